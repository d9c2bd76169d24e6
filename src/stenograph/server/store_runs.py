"""The runs of all machines in a store, as a site shows them.

Theory of operation. Lists, sums and searches are asked of the tables of the store, as they are at that moment. The
pages of one run need an index (units, calls, words), so the events of a run that is looked at are put into an index of
their own, in a temporary folder. It is kept while the table says the same of the run, for the runs that were looked at
last. Its figures are those that the list has: what copied history counts depends on other runs.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Unpack

from msgspec import Struct

from stenograph.archive.reader import IndexReader
from stenograph.errors import RunNotFound
from stenograph.fleet.lake.archive import StoreArchive
from stenograph.fleet.lake.stored_run import RunRow, find_stored
from stenograph.query.bundle_index import index_run
from stenograph.runs.archive import Filters, SearchOptions, Stats
from stenograph.runs.info import RunInfo
from stenograph.runs.reader import RunReader
from stenograph.runs.selection import Selection
from stenograph.server.served_runs import EVERYBODY, OWNERS, Found, Neighbours, Owners, RunTitle

KEPT = 16
"""Runs whose index is kept."""


class _Indexed(Struct, frozen=True):
    """A run that was opened."""

    row: RunRow
    folder: Path
    info: RunInfo
    copied: int


class StoreRuns:
    """`ServedRuns` of a store. Nothing can be changed through it."""

    marks_folder: Path | None = None
    is_live = False

    def __init__(self, url: str, folder: Path, owners: Owners | None = None) -> None:
        """`folder` is a temporary one, for the indexes of runs; with `owners`, only their runs are shown."""
        self.place = url
        self._folder = folder
        self._only = dict(owners or {})
        self.owners = tuple(name for name in OWNERS if name not in self._only)
        self._indexed: OrderedDict[str, _Indexed] = OrderedDict()
        self._lock = threading.Lock()
        """Protects what was indexed, and the folders of indexes until they are open."""

    def is_there(self) -> bool:
        """Whether something was loaded."""
        try:
            return self._archive().lake is not None
        except RunNotFound:
            return False

    def listed(
        self,
        limit: int,
        after: str | None = None,
        sort: str | None = None,
        owners: Owners = EVERYBODY,
        **filters: Unpack[Filters],
    ) -> list[RunInfo]:
        """From what hosts report about their runs."""
        return self._archive(owners).listed(limit, after=after, sort=sort, **filters).infos

    def search(
        self, words: str, options: SearchOptions, owners: Owners = EVERYBODY, **filters: Unpack[Filters]
    ) -> Found:
        """By the texts of the last seven days, or of those that `since` says."""
        found = self._archive(owners).searched(words, options, **filters)
        scanned = found.scanned
        return Found(list(found.hits), f"{scanned.events:,} events of {scanned.runs:,} runs since {found.since}")

    def facets(self, words: str, limit: int) -> tuple[()]:
        """Not known: a search ends when the hits of a page are found."""
        return ()

    def stats(self, by: str, owners: Owners = EVERYBODY, **filters: Unpack[Filters]) -> Stats:
        """By the sums that hosts send, and by events."""
        return self._archive(owners).stats(by, **filters)

    def titles(self, run_ids: Collection[str]) -> dict[str, RunTitle]:
        """From what hosts report about their runs."""
        return {run_id: RunTitle(*row) for run_id, row in self._archive().titles(run_ids).items()}

    def last_seqs(self, run_ids: Collection[str]) -> dict[str, int]:
        """Not needed: nothing says how far a run was read."""
        return {}

    @contextmanager
    def index_of(self, run_id: str) -> Iterator[tuple[IndexReader, int, str]]:
        """The index of that run alone."""
        with self._lock:
            reader, number, found = self._open(run_id)
        with reader:
            yield reader, number, found

    def _open(self, run_id: str) -> tuple[IndexReader, int, str]:
        archive = self._archive()
        stored = find_stored(archive.lake, run_id)
        try:
            row = stored.row
            indexed = self._indexed.pop(row.run_id, None)
            if indexed is not None and indexed.row != row:
                shutil.rmtree(indexed.folder)
                indexed = None
            if indexed is None:
                folder = Path(tempfile.mkdtemp(dir=self._folder))
                index_run(stored.events(Selection(), keep_raw=False), row.run_id, folder, path="#", searchable=True)
                indexed = _Indexed(row, folder, *archive.figures(row))
        finally:
            stored.close()
        self._indexed[row.run_id] = indexed
        while len(self._indexed) > KEPT:
            shutil.rmtree(self._indexed.popitem(last=False)[1].folder)
        reader = IndexReader(indexed.folder)
        return (reader, *reader.find_run(row.run_id))

    def info(self, reader: IndexReader, run: int) -> RunInfo:
        """As `steno ls --store --json` has them."""
        return self._of(reader, run).info

    def copied(self, reader: IndexReader, run: int) -> int:
        """By what its host says."""
        return self._of(reader, run).copied

    def _of(self, reader: IndexReader, run: int) -> _Indexed:
        (run_id,) = reader.index.execute("SELECT run_id FROM main.runs WHERE id = ?", (run,)).fetchone()
        with self._lock:
            found = self._indexed.get(run_id)
        if found is None:  # others were opened since
            raise RunNotFound(f"{run_id} is no longer at hand; load the page again", run_id)
        return found

    def neighbours(self, reader: IndexReader, run: int) -> Neighbours:
        """Not known."""
        return Neighbours()

    def open(self, run_id: str, *, redact: bool = False) -> RunReader:
        """Of the tables."""
        return self._archive().run(run_id, redact=redact)

    def _archive(self, owners: Owners = EVERYBODY) -> StoreArchive:
        return StoreArchive(self.place, **{**owners, **self._only})
