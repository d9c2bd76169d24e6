"""Loads the event segments of all archives into the tables of the lake, each exactly once, by any number of loaders.

Theory of operation. A loader keeps no state. The table itself says how far each archive was loaded: every commit of
`events` names, for each archive and generation in it, the last block (a Delta transaction). A loader reads these
numbers from one version of the table, takes the segments after them, and commits on that version: if another loader
committed for one of the same archives meanwhile, the commit fails and the loader starts again. Without reading the
numbers before each commit, rows would be duplicated: Delta compares a transaction with concurrent ones only.

What hosts report about their runs goes into `runs` before the events are committed; it may be repeated, and the newest
row counts. An archive is loaded up to the first missing segment, and continues when that has arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from stenograph.archive.store.identity import ArchiveIdentity
from stenograph.errors import StoreError
from stenograph.fleet.lake.place import append, lake_library, make_table
from stenograph.fleet.lake.rows import EventRows, RunFacts
from stenograph.fleet.lake.run_tables import run_row, runs_table
from stenograph.fleet.store.keys import events_folder, start_of
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.pull import stored_identity
from stenograph.fleet.store.segment import Segment, read_segment
from stenograph.fleet.store.sent_events import generations
from stenograph.fleet.store.tombstones import archives_in, forgotten_runs

if TYPE_CHECKING:
    import pyarrow
    from deltalake import DeltaTable

BATCH_BYTES = 128 << 20
"""Of texts and payloads in one commit."""
_MOST_CONFLICTS = 100
_PROBE = "lake/probe"
_ORDER = [("day", "ascending"), ("archive", "ascending"), ("run_id", "ascending"), ("seq", "ascending")]
Progress = Callable[[int], None]
"""Called with the number of events that were loaded."""


class Loaded(Struct, kw_only=True):
    """What a loader did."""

    archives: int = 0
    """Archives that the store has."""
    segments: int = 0
    events: int = 0
    commits: int = 0
    conflicts: int = 0
    """Commits that failed because another loader committed first; they were tried again."""
    waiting: list[str] = msgspec.field(default_factory=list)
    """Archives with a missing segment, so that nothing after it was loaded."""


def transaction_of(archive: str, generation: str) -> str:
    """The name under which the table records how far an archive was loaded."""
    return f"steno:{archive}:{generation}"


def load(store: Objects, *, progress: Progress | None = None, batch_bytes: int = BATCH_BYTES) -> Loaded:
    """Load everything that was pushed and is not loaded yet.

    It may be killed at any moment, and run many times at once.
    Raises `StoreError` if the lake cannot be written, and `SourceError` for a segment that cannot be read.
    """
    lake_library()
    store.require_conditional_create(_PROBE, b"create-only\n")
    loaded = Loaded()
    loader = _Loader(store, batch_bytes, loaded, progress or (lambda events: None))
    while loader.step():
        pass
    return loaded


class _Loader:
    def __init__(self, store: Objects, batch_bytes: int, loaded: Loaded, progress: Progress) -> None:
        self._store = store
        self._batch_bytes = batch_bytes
        self._loaded = loaded
        self._progress = progress
        self._archives = archives_in(store)
        self._about: dict[str, ArchiveIdentity | None] = {}
        loaded.archives = len(self._archives)

    def step(self) -> bool:
        """Load one batch; returns whether there may be more."""
        from deltalake.exceptions import CommitFailedError

        table = make_table(self._store.url, "events")
        batch = _Batch()
        for archive in self._archives:
            self._gather(table, archive, batch)
            if batch.bytes >= self._batch_bytes:
                break
        if not batch.upto:
            return False
        try:
            self._commit(table, batch)
        except CommitFailedError as error:
            self._loaded.conflicts += 1
            if self._loaded.conflicts > _MOST_CONFLICTS:
                raise StoreError(
                    f"other loaders of {self._store.url} committed first {_MOST_CONFLICTS} times; run fewer at once",
                    self._store.url,
                ) from error
        else:
            self._loaded.commits += 1
            self._loaded.events += batch.count
            self._loaded.segments += batch.segments
            self._progress(self._loaded.events)
        return True

    def _gather(self, table: DeltaTable, archive: str, batch: _Batch) -> None:
        """Take the segments of an archive that the table does not have, as far as they fit."""
        generation = max(generations(self._store, archive), default=None)
        if generation is None:
            return
        name = transaction_of(archive, generation.name)
        upto = table.transaction_version(name) or 0
        found = segments_of(self._store, events_folder(archive, generation))
        waiting = {start: key for start, key in found if start > upto}
        if not waiting:
            return
        forgotten = forgotten_runs(self._store, archive)
        while (key := waiting.pop(upto + 1, None)) is not None:
            segment = read_segment(self._store.get(key), key)
            batch.take(segment, self._identity(archive), forgotten)
            upto = segment.header.last
            batch.upto[name] = upto
            if batch.bytes >= self._batch_bytes:
                return
        if waiting and archive not in self._loaded.waiting:
            self._loaded.waiting.append(archive)

    def _identity(self, archive: str) -> ArchiveIdentity | None:
        if archive not in self._about:
            self._about[archive] = stored_identity(self._store, archive)
        return self._about[archive]

    def _commit(self, table: DeltaTable, batch: _Batch) -> None:
        deltalake = lake_library()
        append(make_table(self._store.url, "runs"), batch.runs(), self._store.url)
        done = [deltalake.Transaction(name, version) for name, version in batch.upto.items()]
        append(table, batch.events(), self._store.url, deltalake.CommitProperties(app_transactions=done))


class _Batch:
    """What goes into one commit."""

    def __init__(self) -> None:
        self.upto: dict[str, int] = {}
        """The last block of each archive and generation in it."""
        self.segments = 0
        self.count = 0
        self._events: list[EventRows] = []
        self._runs: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def bytes(self) -> int:
        """Of texts and payloads."""
        return sum(rows.bytes for rows in self._events)

    def take(self, segment: Segment, identity: ArchiveIdentity | None, forgotten: frozenset[str]) -> None:
        """Take a segment, without forgotten runs."""
        header = segment.header
        facts: dict[str, RunFacts] = {}
        for said in header.runs:
            row = run_row(said, header.archive, header.generation, header.last, header.goal, header.made_at, identity)
            if row["run_id"] not in forgotten:
                self._runs[header.archive, row["run_id"]] = row
                facts[row["run_id"]] = RunFacts(**{name: row[name] for name in RunFacts.__struct_fields__})
        rows = EventRows(header.archive, header.generation, facts)
        for block, lines in segment.by_block():
            if block.run_id not in forgotten:
                for line in lines:
                    rows.add(line, block.id, block.revision)
        self._events.append(rows)
        self.segments += 1
        self.count += len(rows)

    def events(self) -> pyarrow.Table:
        """The rows of `events`, in their order."""
        import pyarrow as pa

        return pa.concat_tables([rows.take() for rows in self._events]).sort_by(_ORDER)

    def runs(self) -> pyarrow.Table:
        """The rows of `runs`."""
        return runs_table(self._runs.values())


def loaded_upto(table: DeltaTable, archive: str, generation: str) -> int:
    """The last block of an archive that the table has."""
    return int(table.transaction_version(transaction_of(archive, generation)) or 0)


def segments_of(store: Objects, folder: str) -> Iterator[tuple[int, str]]:
    """The segments in a folder of events, by where they begin."""
    for entry in store.entries(folder):
        start = start_of(entry.key)
        if start is not None:
            yield start, entry.key
