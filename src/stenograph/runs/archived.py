"""A run of the archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from stenograph.archive.reader import IndexReader
from stenograph.archive.store.damage import readable_index
from stenograph.archive.store.home import Home
from stenograph.archive.store.kept_file import KeptBytes
from stenograph.errors import InvalidTarget, RunNotFound, SourceError
from stenograph.fold.open_ends import OpenEnds
from stenograph.fold.status import Life
from stenograph.fold.tree import RunNode
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.runs.info import RunInfo, info_of_line
from stenograph.runs.kind import Growth, Line, Verified
from stenograph.runs.problem import Problem
from stenograph.runs.selection import Selection, indexed_selection

_FILES = """
    SELECT id, version, path, lines, malformed, failed, wanted_files FROM files WHERE run_id = ? ORDER BY id
"""


class ArchivedReport(Struct, frozen=True, kw_only=True):
    """What a check of an archived run found."""

    path: str
    """The archive."""
    ok: bool
    """Every line could be read, and every kept byte is unchanged."""
    run_id: str
    format: str
    files: int
    lines: int
    events: int
    malformed: int
    failed: int
    """Lines on which our own mapping failed."""
    damaged: tuple[str, ...]
    """Files whose bytes in the archive have changed."""
    open_calls: tuple[str, ...]


class ArchivedRun:
    """One run of an archive, by its number in the index (`runs.id`)."""

    name = "an archived run"

    def __init__(self, index: IndexReader, run: int, run_id: str) -> None:
        self._index = index
        self._run = run
        self.run_id = run_id

    @property
    def place(self) -> str:
        """The folder of the archive."""
        return str(self._index.home.path)

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """Found by the index: a part is read without what comes before it."""
        with readable_index():
            yield from indexed_selection(self._index, self._run, selection)

    def lines(self) -> Iterator[Line]:
        """The events; their lines are ours, not the agent's."""
        return ((event, None) for event in self.events(Selection(), keep_raw=False))

    def info(self) -> RunInfo:
        """From the index, as `steno ls` shows it."""
        from stenograph.query.prices import load_prices
        from stenograph.query.runs import run_line

        with readable_index():
            line = run_line(self._index.index, self._run, load_prices())
        return info_of_line(line, self._index.home.identity())

    def life(self) -> Life:
        """Determined by the files that it was read from."""
        from stenograph.query.run_status import RunStatuses

        return RunStatuses(self._index.index).life(self._run)

    def tree(self) -> RunNode:
        """With the threads that it spawned and the forks that continue it."""
        from stenograph.query.tree import archived_tree

        with readable_index():
            return archived_tree(self._index, self._run)

    def problems(self) -> tuple[Problem, ...]:
        """Parts of its files that could not be read when they were indexed."""
        with readable_index():
            rows = self._index.index.execute(_FILES, (self.run_id,)).fetchall()
        return tuple(problem for row in rows for problem in _problems(*row[2:]))

    def growth(self, from_seq: int) -> Growth:
        """Follows the index, which any process may write."""
        return ArchivedGrowth(self._index.home, self.run_id, from_seq)

    def verified(self) -> Verified:
        """Checks the kept bytes, and reports the state of their lines when they were indexed."""
        report = self._report()
        verdict = "ok" if report.ok else "PROBLEMS"
        counts = f"{report.events} events from {report.lines} lines in {report.files} files"
        findings = [
            *(f"✗ damaged: {each}" for each in report.damaged),
            *([f"✗ malformed: {report.malformed} lines are not JSON"] if report.malformed else []),
            *([f"✗ failed: {report.failed} lines could not be mapped; please report it"] if report.failed else []),
            *(f"· open_call: a tool call has no result: {each}" for each in report.open_calls),
        ]
        return Verified(
            ok=report.ok,
            summary=f"{self.run_id} in {self.place}: {verdict}, an archived run, {counts}",
            findings=tuple(findings),
            report=report,
        )

    def _report(self) -> ArchivedReport:
        ends = OpenEnds()
        events = 0
        for event in self.events(Selection(), keep_raw=False):
            events += 1
            ends.add(event)
        with readable_index():
            rows = self._index.index.execute(_FILES, (self.run_id,)).fetchall()
            written = self._index.index.execute("SELECT format FROM runs WHERE id = ?", (self._run,)).fetchone()[0]
        kept = KeptBytes(self._index.index, self._index.home.kept)
        damaged = tuple(each for row in rows if (each := _damage(kept, row[0], row[1], row[2])) is not None)
        malformed, failed = (sum(row[column] for row in rows) for column in (4, 5))
        return ArchivedReport(
            path=str(self._index.home.path),
            ok=not (damaged or malformed or failed),
            run_id=self.run_id,
            format=written,
            files=len(rows),
            lines=sum(row[3] for row in rows),
            events=events,
            malformed=malformed,
            failed=failed,
            damaged=damaged,
            open_calls=tuple(end.what for end in ends.remaining() if end.kind == "open_call"),
        )

    def for_bundle(self) -> Iterator[Event]:
        """The run, then the runs that it called, and those that these called."""
        from stenograph.query.runs import with_called_runs  # slow to load, and not needed for every bundle

        with readable_index():
            for run in with_called_runs(self._index.index, self._run):
                yield from self._index.events(run)

    def journal(self) -> Path:
        """Raises: it is not a journal."""
        raise InvalidTarget(f"{self.run_id} is an archived run, not a journal; give a journal of ours")

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def _problems(path: str, lines: int, malformed: int, failed: int, wanted: int) -> Iterator[Problem]:
    flaws = [
        ("malformed", malformed, "lines are not JSON"),
        ("failed", failed, "lines could not be mapped (please report)"),
        ("missing", wanted, "side files were missing"),
    ]
    for kind, number, text in flaws:
        if number:
            yield Problem(path=path, kind=kind, number=number, text=f"{number} {text}")


def _damage(kept: KeptBytes, file: int, version: int, path: str) -> str | None:
    try:
        for _ in kept.chunks(file, version):
            pass
    except SourceError as error:
        return f"{path}: {error}"
    return None


class ArchivedGrowth:
    """An archived run while `steno watch` or `steno sync` adds to it. Every poll opens the index, which may be new.

    When another recorder of the run adds to it, it is renumbered (`runs.revision`). Then it is read from its beginning
    up to the first event that was returned, and what was not returned after that is new. Events are recognized by a
    digest of their content, because their numbers have changed.
    """

    is_over = False

    def __init__(self, home: Home, run_id: str, from_seq: int) -> None:
        self._home = home
        self._run_id = run_id
        self._next = from_seq
        self._revision: int | None = None
        self._given: Counter[bytes] = Counter()
        self.folders = frozenset([home.path])

    def new(self) -> Iterator[Line]:
        """Events after the last one."""
        with readable_index():
            try:
                index = IndexReader(self._home.path)
            except RunNotFound:  # being rebuilt
                return
            with index:
                yield from ((event, None) for event in self._events(index))

    def _events(self, index: IndexReader) -> Iterator[Event]:
        row = index.index.execute("SELECT id, revision FROM runs WHERE run_id = ?", (self._run_id,)).fetchone()
        if row is None:
            return
        run, revision = row
        is_anew = self._revision not in (None, revision) and bool(self._given)
        self._revision = revision
        events = index.events(run, 1 if is_anew else self._next)
        for event in self._unknown(events) if is_anew else events:
            self._next = event.seq + 1
            self._given[_digest(event)] += 1
            yield event

    def _unknown(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events after the first that was returned, without those that were returned."""
        left = self._given.copy()
        has_begun = False
        for event in events:
            digest = _digest(event)
            self._next = event.seq + 1
            if left[digest]:
                left[digest] -= 1
                has_begun = True
            elif has_begun:
                yield event

    def close(self) -> None:
        """Nothing stays open."""


def _digest(event: Event) -> bytes:
    """A digest of an event's content, without its number."""
    content = encode(replace(event, seq=0, origin=None))
    return blake2b(content + event.source.encode("utf-8", "replace"), digest_size=8).digest()
