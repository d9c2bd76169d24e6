"""A run of a store: what its lake has of it, and what was pushed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from stenograph.errors import InvalidTarget, RunNotFound
from stenograph.fleet.lake.load import loaded_upto, segments_of
from stenograph.fleet.lake.reading import Lake, Span
from stenograph.fleet.lake.rows import events_of
from stenograph.fleet.store.keys import events_folder
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.fleet.store.segment import read_segment
from stenograph.fleet.store.sent_events import generations
from stenograph.fold.status import Life
from stenograph.fold.subagents import subagent_tree
from stenograph.fold.tree import RunNode
from stenograph.journal.place import ambiguous
from stenograph.liveness import Liveness
from stenograph.model.event import Event
from stenograph.runs.info import RunInfo, Setting, info_of
from stenograph.runs.kind import Growth, Line, Verified
from stenograph.runs.problem import Problem
from stenograph.runs.selection import Selection, selected

_MOST_FITTING = 100
_COLUMNS = 'archive, run_id, generation, revision, agent, agent_version, cwd, branch, ended_ms, host, "user"'


class StoredRun:
    """One run of the archives of a store."""

    name = "a run of a store"

    def __init__(self, lake: Lake, run_id: str) -> None:
        """`run_id` is the whole id. Raises `RunNotFound`."""
        self._lake = lake
        self.run_id = run_id
        with lake.connected(Span(run_id=run_id)) as connection:
            query = f"SELECT {_COLUMNS} FROM current_runs ORDER BY events DESC, archive LIMIT 1"
            rows = connection.execute(query).fetchall()
        if not rows:
            raise RunNotFound(f"no run {run_id!r} in {lake.url}; steno ls --store lists them", run_id)
        self._archive, _, self._generation, self._revision, *self._facts = rows[0]

    @property
    def place(self) -> str:
        """The URL of the store."""
        return self._lake.url

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """Of the lake; a part is picked from the whole."""
        return selected(self._all(), selection)

    def _all(self, from_seq: int = 0) -> Iterator[Event]:
        with self._lake.connected(Span(run_id=self.run_id)) as connection:
            rows = connection.execute(
                "SELECT payload, envelope FROM told WHERE archive = ? AND run_id = ? AND seq >= ? ORDER BY seq",
                [self._archive, self.run_id, from_seq],
            ).fetchall()
        return events_of(rows)

    def lines(self) -> Iterator[Line]:
        """The events; their lines are ours, not the agent's."""
        return ((event, None) for event in self._all())

    def info(self) -> RunInfo:
        """By its events, and by what its host says of it."""
        from msgspec.structs import replace

        from stenograph.query.prices import load_prices

        agent, version, cwd, branch, _, host, user = self._facts
        setting = Setting(
            run_id=self.run_id, agent=agent, agent_version=version, cwd=cwd, branch=branch, life=self.life
        )
        return replace(info_of(self._all(), load_prices(), setting), host=host, user=user, archive_id=self._archive)

    def life(self) -> Life:
        """By the time of its last event: no process of another machine can be seen from here."""
        ended = self._facts[4]
        return Life(is_recent=ended is not None and Liveness().is_recent(ended / 1000))

    def tree(self) -> RunNode:
        """With its subagents."""
        return subagent_tree(self._all(), self.life())

    def problems(self) -> tuple[Problem, ...]:
        """None: what could not be read, the host knows."""
        return ()

    def growth(self, from_seq: int) -> Growth:
        """Of the lake, then as segments come."""
        return StoredGrowth(self, from_seq)

    def verified(self) -> Verified:
        """It is checked where its bytes are."""
        raise InvalidTarget(
            f"{self.run_id} is a run of {self.place}; steno lake check checks that, steno verify its host"
        )

    def for_bundle(self) -> Iterable[Event]:
        """The events of the run."""
        return self._all()

    def journal(self) -> Path:
        """It is not one."""
        raise InvalidTarget(f"{self.run_id} is a run of a store, not a journal; give a journal of ours")

    def close(self) -> None:
        """Nothing stays open."""

    def loaded(self) -> tuple[Objects, str, str, int]:
        """The store, the archive and its newest generation, and the last block of it that the lake has."""
        store = open_store(self._lake.url)
        generation = max(generations(store, self._archive), default=None)
        name = self._generation if generation is None else generation.name
        folder = "" if generation is None else events_folder(self._archive, generation)
        return store, folder, name, loaded_upto(self._lake.events, self._archive, name)

    def unfinished(self, from_seq: int) -> Iterator[Event]:
        """The events of the lake from a number on."""
        return self._all(from_seq)


class StoredGrowth:
    """A run while its host pushes: every few seconds a look at the segments that came since."""

    is_over = False
    folders: frozenset[Path] = frozenset()

    def __init__(self, run: StoredRun, from_seq: int) -> None:
        self._run = run
        self._next = from_seq
        self._upto: int | None = None
        self._place: tuple[Objects, str] | None = None

    def new(self) -> Iterator[Line]:
        """Events behind the last one."""
        if self._place is None:
            store, folder, _, upto = self._run.loaded()
            self._place, self._upto = (store, folder), upto
            for event in self._run.unfinished(self._next):
                self._next = event.seq + 1
                yield event, None
        store, folder = self._place
        assert self._upto is not None
        waiting = {start: key for start, key in segments_of(store, folder) if start > self._upto} if folder else {}
        while (key := waiting.pop(self._upto + 1, None)) is not None:
            segment = read_segment(store.get(key), key)
            self._upto = segment.header.last
            for block, event in segment.events():
                if block.run_id == self._run.run_id and event.seq >= self._next:
                    self._next = event.seq + 1
                    yield event, None

    def close(self) -> None:
        """Nothing stays open."""


def find_stored(lake: Lake, text: str) -> StoredRun:
    """A run by its id or the unique beginning of it, or by how new it is (`@`, `@2`). Raises as `find_run` does."""
    number = _newest(text)
    with lake.connected(only_runs=True) as connection:
        if number is not None:
            query = """
                SELECT run_id FROM runs_table GROUP BY run_id
                ORDER BY max_by(ended_ms, (generation, last_block)) DESC NULLS LAST, run_id LIMIT 1 OFFSET ?
            """
            found = [row[0] for row in connection.execute(query, [number - 1]).fetchall()]
        else:
            query = f"SELECT DISTINCT run_id FROM runs_table WHERE starts_with(run_id, ?) LIMIT {_MOST_FITTING}"
            found = [row[0] for row in connection.execute(query, [text.lower()]).fetchall()]
    if not found or not text:
        raise RunNotFound(f"no run {text!r} in {lake.url}; steno ls --store lists them", text)
    if len(found) > 1 and text.lower() not in found:
        raise ambiguous(text, sorted(found))
    return StoredRun(lake, text.lower() if text.lower() in found else found[0])


def _newest(text: str) -> int | None:
    if text in ("@", "last"):
        return 1
    return int(text[1:]) if text.startswith("@") and text[1:].isdecimal() and int(text[1:]) else None
