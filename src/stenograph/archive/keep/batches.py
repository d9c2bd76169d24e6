"""Batches: the frames of one session in one sync, and its new events, on their way into the index.

Whether frames were just appended to the packs or are read back from them, they come this way: that is what makes an
index that was maintained equal to one that is made again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.indexing import Indexer
from stenograph.archive.keep.frozen_parser import program_of
from stenograph.archive.keep.opened_file import OpenedFile, Opening, Side
from stenograph.archive.store.catalog import Catalog
from stenograph.archive.store.kept_file import KeptBytes, KeptFile
from stenograph.archive.store.pack import About, Header, Place, payload_of
from stenograph.model.event import Event
from stenograph.sources.layout import SideFile
from stenograph.sources.merge import merged

_COMMIT_BYTES = 1 << 26
_COMMIT_SECONDS = 2.0
_MOST_DUE = 3
_FRAME = "INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_RANGES = "INSERT INTO ranges VALUES (?, ?, ?, ?)"
_PARSER = "INSERT OR REPLACE INTO parsers VALUES (?, ?, ?)"
Found = tuple[Header, Place]


class Batches:
    """The index with what is known of it, and the batch that is being added."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        """`folder` holds the packs."""
        self.index = IndexWriter(connection)
        self.catalog = Catalog(connection, self.index)
        self.kept = KeptBytes(self.index, folder)
        self._folder = folder
        self._indexer = Indexer(self.index)
        facts = dict(connection.execute("SELECT name, value FROM facts"))
        self.number: int = facts.get("batch", 0)
        """Of the batch that is being added."""
        self.pack: int = facts.get("pack", 0)
        self.pack_end: int = facts.get("pack_end", 0)
        """So far the packs are in the index."""
        self._last = self.number
        self._frames: int = connection.execute("SELECT coalesce(max(id), 0) FROM frames").fetchone()[0]
        self._sides: dict[int, dict[str, tuple[Place, int]]] = {}
        self._uncommitted = 0
        self._committed_at = time.monotonic()
        self._most_at_hand = 0
        self._at_hand: dict[int, OpenedFile] = {}
        """Files whose parsers are not in the index but here, because they are likely to be needed soon."""

    @property
    def events(self) -> int:
        """Events indexed, ever."""
        return self._indexer.events

    def begin(self, number: int | None = None) -> None:
        """Everything from now on belongs to one session; `number` is that of a batch which is read back."""
        self.number = self._last + 1 if number is None else number

    def add_file(self, about: About, id: int | None = None) -> KeptFile:
        """A file that was not kept before."""
        file = self.catalog.add(about, id)
        self._sides[file.id] = {}
        return file

    def note(self, header: Header, place: Place) -> None:
        """Take a frame of the batch into account, which is in the packs by now."""
        self._frames += 1
        self._last = header.batch
        self._uncommitted += header.length
        self.pack, self.pack_end = place.pack, place.end
        if header.kind == "side" and header.name is not None and header.file in self._sides:
            self._sides[header.file][header.name] = place, header.length
        told = (self._frames, header.batch, header.kind, header.file, header.version, header.name, header.start)
        self.index.add(_FRAME, (*told, header.length, place.pack, place.at, place.size))

    def open(self, file: KeptFile, *, is_begun: bool, live: SideFile | None = None) -> OpenedFile:
        """A file with its parser where it stopped; with `is_begun`, at the beginning of a (new) version."""
        at_hand = self._at_hand.get(file.id)
        if at_hand is not None and not is_begun and not self.catalog.twins(file):
            at_hand.side.renew(live)
            return at_hand
        self.put_away(file.id)
        opening = Opening(self.catalog, self.kept, self.number)
        side = Side(partial(self._side, file.id), live)
        if is_begun and not (file.about.is_document and file.version > 1):
            return opening.at_the_beginning(file, side)
        row = self.index.execute("SELECT program, state FROM parsers WHERE file = ?", (file.id,)).fetchone()
        return opening.at_the_beginning(file, side, row) if is_begun else opening.where_it_stopped(file, side, row)

    def _side(self, file: int, name: str) -> bytes | None:
        """The newest kept bytes of a side file; of a file that was added just now, without a look into the index."""
        if file not in self._sides:
            return self.kept.side(file, name)
        place = self._sides[file].get(name)
        return None if place is None else payload_of(self._folder, *place)

    def add(self, opened: list[OpenedFile], series: list[Iterator[Event]]) -> None:
        """Index what the series give, which belong to the opened files in the order of their ids."""
        self._tell_apart(opened)
        events: Iterable[Event] = series[0] if len(series) == 1 else merged(series)
        self._indexer.index(events, [each.file for each in opened])
        for each in opened:
            if each.is_superseded:
                self._tell_again(each)
            self._settle(each)
        if self._is_time_to_commit():
            self.commit()

    def _tell_again(self, opened: OpenedFile) -> None:
        """Index the runs of a file anew, because later lines showed that earlier ones were told wrongly."""
        files = [*self.catalog.twins(opened.file), opened.file]
        chunks = (chunk for file in files for chunk in self.kept.sound_chunks(file.id, file.version))
        self._indexer.index_again(opened.tell_again(chunks), opened.file)

    def _tell_apart(self, opened: list[OpenedFile]) -> None:
        """What several files of a run tell is left to one: a subagent's own, unless the main file told it before."""
        by_id = {each.file.id: each for each in opened}
        for each in opened:
            main = self.catalog.main_of(each.file)
            already: Iterable[int] = ()
            if main is not None and each.cursor.parser.report.lines == 0 and (main.kept or main.version > 1):
                teller = by_id.get(main.id) or self.open(main, is_begun=False)
                already = getattr(teller.cursor.parser, "subagent_keys", {}).get(each.file.about.source, ())
            if main is not None or each.file.about.source == "main":
                separate = frozenset() if main is not None else self.catalog.sources_beside(each.file)
                each.leave_to_others(separate, frozenset(already))

    def _is_time_to_commit(self) -> bool:
        """Often enough for readers and for a crash, and without waiting for what is being written if that can be."""
        due = max(self._uncommitted / _COMMIT_BYTES, (time.monotonic() - self._committed_at) / _COMMIT_SECONDS)
        return due > (_MOST_DUE if self.index.is_busy else 1)

    def _settle(self, opened: OpenedFile) -> None:
        file = opened.file
        file.tail = opened.ranges.tail
        self.index.add(_RANGES, *((file.id, file.version, *each) for each in opened.digests))
        opened.digests = []
        file.count(opened.cursor.parser.report)
        file.write(self.index)
        if file.about.is_document or not self._most_at_hand:
            self._freeze(opened)
            return
        if self._at_hand.pop(file.id, None) is None:
            self.index.add(_PARSER, (file.id, "", b""))  # whoever comes after a crash reads again what is kept
        self._at_hand[file.id] = opened
        while len(self._at_hand) > self._most_at_hand:
            self.put_away(next(iter(self._at_hand)))

    def _freeze(self, opened: OpenedFile) -> None:
        self.index.add(_PARSER, (opened.file.id, program_of(opened.spec), opened.state()))

    def keep_at_hand(self, most: int) -> None:
        """From now on, parsers of so many files stay here instead of being written with every batch."""
        self._most_at_hand = most

    def put_away(self, file: int | None = None) -> None:
        """Write the parser of a file that is at hand, or of all, to the index."""
        for number in list(self._at_hand) if file is None else [file]:
            if (opened := self._at_hand.pop(number, None)) is not None:
                self._freeze(opened)

    def commit(self) -> None:
        """Make everything so far visible to readers, soon."""
        self.index.note("batch", self._last)
        self.index.note("pack", self.pack)
        self.index.note("pack_end", self.pack_end)
        self.index.commit()
        self._uncommitted = 0
        self._committed_at = time.monotonic()
