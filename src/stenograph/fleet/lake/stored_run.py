"""A run of a store: what its lake has of it, and what was pushed since."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stenograph.errors import InvalidTarget, RunNotFound
from stenograph.fleet.lake.load import loaded_upto, segments_of
from stenograph.fleet.lake.reading import Lake, Span, day_of, quoted
from stenograph.fleet.lake.rows import events_of
from stenograph.fleet.lake.views import CURRENT
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

if TYPE_CHECKING:
    import duckdb

_MOST_FITTING = 100


class RunRow(Struct, frozen=True):
    """What the host reports about a run."""

    archive: str
    run_id: str
    generation: str
    revision: int
    agent: str | None
    agent_version: str | None
    cwd: str | None
    branch: str | None
    started_ms: int | None
    ended_ms: int | None
    events: int | None
    host: str | None
    user: str | None

    def span(self) -> Span:
        """The files of the table that the run's events are in, by its times."""
        return Span(first_day=day_of(self.started_ms), last_day=day_of(self.ended_ms), run_id=self.run_id)

    def condition(self) -> str:
        """A condition on `events_table`; values are inline, because DuckDB skips parts of files by those only."""
        named = {"archive": self.archive, "run_id": self.run_id, "generation": self.generation}
        texts = (f"{name} = {quoted(value)}" for name, value in named.items())
        return " AND ".join((*texts, f"revision = {self.revision:d}"))


_COLUMNS = ", ".join(f'"{name}"' for name in RunRow.__struct_fields__)


class StoredRun:
    """One run of the archives of a store."""

    name = "a run of a store"

    def __init__(self, lake: Lake, row: RunRow, connection: duckdb.DuckDBPyConnection, until_close: ExitStack) -> None:
        """`find_stored` finds one; the connection to the lake is kept until `close`."""
        self._lake = lake
        self._connection = connection
        self._until_close = until_close
        self.row = row
        self.run_id = row.run_id

    @property
    def place(self) -> str:
        """The URL of the store."""
        return self._lake.url

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """Of the lake; a part is picked from the whole."""
        return selected(self._all(), selection)

    def _all(self, from_seq: int = 0) -> Iterator[Event]:
        rows = self._rows(self.row.span())
        if len(rows) != self.row.events:  # an event without a time may be on any day
            rows = self._rows(Span(run_id=self.run_id))
        return events_of(row[:2] for row in rows if row[2] >= from_seq)

    def _rows(self, span: Span) -> list[Any]:
        self._lake.add_events(self._connection, span)
        query = f"SELECT payload, envelope, seq FROM events_table WHERE {self.row.condition()} ORDER BY seq"
        return self._connection.execute(query).fetchall()

    def lines(self) -> Iterator[Line]:
        """The events; their lines are ours, not the agent's."""
        return ((event, None) for event in self._all())

    def info(self) -> RunInfo:
        """From its events, and from what its host reports."""
        from msgspec.structs import replace

        from stenograph.query.prices import load_prices

        row = self.row
        setting = Setting(
            run_id=row.run_id,
            agent=row.agent,
            agent_version=row.agent_version,
            cwd=row.cwd,
            branch=row.branch,
            life=self.life,
        )
        info = info_of(self._all(), load_prices(), setting)
        return replace(info, host=row.host, user=row.user, archive_id=row.archive)

    def life(self) -> Life:
        """By the time of its last event: no process of another machine can be seen from here."""
        ended = self.row.ended_ms
        return Life(is_recent=ended is not None and Liveness().is_recent(ended / 1000))

    def tree(self) -> RunNode:
        """With its subagents."""
        return subagent_tree(self._all(), self.life())

    def problems(self) -> tuple[Problem, ...]:
        """None: only the host knows what could not be read."""
        return ()

    def growth(self, from_seq: int) -> Growth:
        """Of the lake, then as segments come."""
        return StoredGrowth(self, from_seq)

    def verified(self) -> Verified:
        """A run is verified on its host, where its bytes are."""
        raise InvalidTarget(
            f"{self.run_id} is a run of {self.place}; steno lake check checks that, steno verify its host"
        )

    def for_bundle(self) -> Iterable[Event]:
        """The events of the run."""
        return self._all()

    def journal(self) -> Path:
        """Refused: it is not a journal."""
        raise InvalidTarget(f"{self.run_id} is a run of a store, not a journal; give a journal of ours")

    def close(self) -> None:
        """Close the connection."""
        self._until_close.close()

    def loaded(self) -> tuple[Objects, str, str, int]:
        """The store, the archive and its newest generation, and the last block of it that the lake has."""
        store = open_store(self._lake.url)
        archive = self.row.archive
        generation = max(generations(store, archive), default=None)
        name = self.row.generation if generation is None else generation.name
        folder = "" if generation is None else events_folder(archive, generation)
        return store, folder, name, loaded_upto(self._lake.events, archive, name)

    def unfinished(self, from_seq: int) -> Iterator[Event]:
        """The events of the lake from a number on."""
        return self._all(from_seq)


class StoredGrowth:
    """A run while its host pushes: new segments are read every few seconds."""

    is_over = False
    folders: frozenset[Path] = frozenset()

    def __init__(self, run: StoredRun, from_seq: int) -> None:
        self._run = run
        self._next = from_seq
        self._upto: int | None = None
        self._place: tuple[Objects, str] | None = None

    def new(self) -> Iterator[Line]:
        """Events after the last one."""
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
    prefix = text.lower()
    with ExitStack() as until_close:
        connection = until_close.enter_context(lake.connected_to_runs())
        if number is not None:
            query = """
                SELECT run_id FROM runs_table GROUP BY run_id
                ORDER BY max_by(ended_ms, (generation, last_block)) DESC NULLS LAST, run_id LIMIT 1 OFFSET ?
            """
            newest = connection.execute(query, [number - 1]).fetchall()
            prefix = newest[0][0] if newest else ""
        condition = CURRENT.format(f"starts_with(run_id, {quoted(prefix)})")
        query = f"SELECT {_COLUMNS} FROM ({condition}) ORDER BY events DESC, archive LIMIT {_MOST_FITTING}"
        rows = [RunRow(*row) for row in connection.execute(query).fetchall()] if prefix else []
        found = {row.run_id: row for row in reversed(rows)}  # of those that several archives keep, the longest
        if not found:
            raise RunNotFound(f"no run {text!r} in {lake.url}; steno ls --store lists them", text)
        if len(found) > 1 and prefix not in found:
            raise ambiguous(text, sorted(found))
        row = found[prefix] if prefix in found else next(iter(found.values()))
        return StoredRun(lake, row, connection, until_close.pop_all())


def _newest(text: str) -> int | None:
    if text in ("@", "last"):
        return 1
    return int(text[1:]) if text.startswith("@") and text[1:].isdecimal() and int(text[1:]) else None
