"""Batches: adds the frames of one session in one sync, and its new events, to the index.

Frames that were just appended to the packs and frames that are read back from them go through the same code: so an
index that was maintained equals one that is rebuilt.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.indexing import Indexer
from stenograph.archive.keep.opened_file import FileOpener, OpenedFile, SideFiles
from stenograph.archive.keep.parser_state import program_of
from stenograph.archive.store.kept_file import KeptBytes, KeptFile
from stenograph.archive.store.kept_files import KeptFiles
from stenograph.archive.store.pack import About, Header, Place, payload_of
from stenograph.formats.registry import formats
from stenograph.model.event import Event
from stenograph.sources.layout import SideFile
from stenograph.sources.merge import merged

_COMMIT_BYTES = 1 << 26
_COMMIT_SECONDS = 2.0
_MOST_DUE = 3
_FRAME = "INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_RANGES = "INSERT INTO ranges VALUES (?, ?, ?, ?)"
_PARSER = "INSERT OR REPLACE INTO parsers VALUES (?, ?, ?)"
_UNINSTALLED = "uninstalled "
"""The beginning of a fact that names a format: files in it were indexed while it was not installed."""
Found = tuple[Header, Place]


class Batches:
    """The index with its kept files, and the batch that is being added."""

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        """`folder` holds the packs."""
        self.index = IndexWriter(connection)
        self.files = KeptFiles(connection, self.index)
        self.kept = KeptBytes(self.index, folder)
        self._folder = folder
        self._indexer = Indexer(self.index)
        facts = dict(connection.execute("SELECT name, value FROM facts"))
        self.number: int = facts.get("batch", 0)
        """The number of the batch that is being added."""
        self.pack: int = facts.get("pack", 0)
        self.pack_end: int = facts.get("pack_end", 0)
        """The index has the packs up to here."""
        missed = (name.removeprefix(_UNINSTALLED) for name in facts if name.startswith(_UNINSTALLED))
        self.can_read_more = any(name in formats() for name in missed)
        """A format is installed now that was not when files in it were indexed."""
        self._last = self.number
        self._frames: int = connection.execute("SELECT coalesce(max(id), 0) FROM frames").fetchone()[0]
        self._sides: dict[int, dict[str, tuple[Place, int]]] = {}
        self._uncommitted = 0
        self._committed_at = time.monotonic()
        self._most_in_memory = 0
        self._in_memory: dict[int, OpenedFile] = {}
        """Files whose parsers are here and not in the index, because they are likely to be needed soon."""

    @property
    def events(self) -> int:
        """Events indexed, ever."""
        return self._indexer.events

    def begin(self, number: int | None = None) -> None:
        """Begin a batch, which is of one session; `number` is that of a batch which is read back."""
        self.number = self._last + 1 if number is None else number

    def add_file(self, about: About, id: int | None = None) -> KeptFile:
        """Add a file that was not kept before."""
        file = self.files.add(about, id)
        self._sides[file.id] = {}
        return file

    def note(self, header: Header, place: Place) -> None:
        """Note a frame of the batch, which is in the packs by now."""
        self._frames += 1
        self._last = header.batch
        self._uncommitted += header.length
        self.pack, self.pack_end = place.pack, place.end
        if header.kind == "side" and header.name is not None and header.file in self._sides:
            self._sides[header.file][header.name] = place, header.length
        row = (self._frames, header.batch, header.kind, header.file, header.version, header.name, header.start)
        self.index.add(_FRAME, (*row, header.length, place.pack, place.at, place.size))

    def open(self, file: KeptFile, *, is_begun: bool, live: SideFile | None = None) -> OpenedFile:
        """Open a file with its parser where it stopped; with `is_begun`, at the beginning of a (new) version."""
        in_memory = self._in_memory.get(file.id)
        if in_memory is not None and not is_begun and not self.files.same_source(file):
            in_memory.side.renew(live)
            return in_memory
        self.save_parsers(file.id)
        opener = FileOpener(self.files, self.kept, self.number)
        side = SideFiles(partial(self._side, file.id), live)
        if is_begun and not (file.about.is_document and file.version > 1):
            return opener.start(file, side)
        row = self.index.execute("SELECT program, state FROM parsers WHERE file = ?", (file.id,)).fetchone()
        return opener.start(file, side, row) if is_begun else opener.resume(file, side, row)

    def _side(self, file: int, name: str) -> bytes | None:
        """The newest kept bytes of a side file; for a file that was just added, without a query."""
        if file not in self._sides:
            return self.kept.side(file, name)
        place = self._sides[file].get(name)
        return None if place is None else payload_of(self._folder, *place)

    def add(self, opened: list[OpenedFile], series: list[Iterator[Event]]) -> None:
        """Index the events of the opened files, which are in the order of their ids: one series for each."""
        self._divide_sources(opened)
        events: Iterable[Event] = series[0] if len(series) == 1 else merged(series)
        self._indexer.index(events, [each.file for each in opened])
        for each in opened:
            if each.is_superseded:
                self._index_again(each)
            self._settle(each)
        if self._is_time_to_commit():
            self.commit()

    def _index_again(self, opened: OpenedFile) -> None:
        """Index the runs of a file again, because later lines showed that earlier ones were read wrongly."""
        files = [*self.files.same_source(opened.file), opened.file]
        chunks = (chunk for file in files for chunk in self.kept.sound_chunks(file.id, file.version))
        self._indexer.index_again(opened.parse_again(chunks), opened.file)

    def _divide_sources(self, opened: list[OpenedFile]) -> None:
        """Read what several files of a run repeat from one: a subagent's own, unless the main file was read before."""
        by_id = {each.file.id: each for each in opened}
        for each in opened:
            main = self.files.main_of(each.file)
            already: Iterable[int] = ()
            if main is not None and each.cursor.parser.report.lines == 0 and (main.kept or main.version > 1):
                reader = by_id.get(main.id) or self.open(main, is_begun=False)
                already = getattr(reader.cursor.parser, "subagent_keys", {}).get(each.file.about.source, ())
            if main is not None or each.file.about.source == "main":
                separate = frozenset() if main is not None else self.files.sources_beside(each.file)
                each.exclude(separate, frozenset(already))

    def _is_time_to_commit(self) -> bool:
        """Often enough for readers and for a crash; a little later while the thread of the index still writes."""
        due = max(self._uncommitted / _COMMIT_BYTES, (time.monotonic() - self._committed_at) / _COMMIT_SECONDS)
        return due > (_MOST_DUE if self.index.is_busy else 1)

    def _settle(self, opened: OpenedFile) -> None:
        file = opened.file
        file.tail = opened.ranges.tail
        self.index.add(_RANGES, *((file.id, file.version, *each) for each in opened.digests))
        opened.digests = []
        file.count(opened.cursor.parser.report)
        file.write(self.index)
        if file.about.is_document or not self._most_in_memory:
            self._save_parser(opened)
            return
        if self._in_memory.pop(file.id, None) is None:
            self.index.add(_PARSER, (file.id, "", b""))  # after a crash, the kept bytes are read again
        self._in_memory[file.id] = opened
        while len(self._in_memory) > self._most_in_memory:
            self.save_parsers(next(iter(self._in_memory)))

    def _save_parser(self, opened: OpenedFile) -> None:
        program = program_of(opened.spec)
        try:
            state = opened.state()
        except Exception:  # noqa: BLE001  # a parser of another package that cannot be pickled: its file is read again
            program, state = "", b""
        self.index.add(_PARSER, (opened.file.id, program, state))
        if opened.spec.name not in formats():
            self.index.note(f"{_UNINSTALLED}{opened.spec.name}", 1)

    def keep_in_memory(self, most: int) -> None:
        """Keep the parsers of at most this many files in memory instead of writing them with every batch."""
        self._most_in_memory = most

    def save_parsers(self, file: int | None = None) -> None:
        """Write the parser of a file that is in memory, or all of them, to the index."""
        for number in list(self._in_memory) if file is None else [file]:
            if (opened := self._in_memory.pop(number, None)) is not None:
                self._save_parser(opened)

    def commit(self) -> None:
        """Make everything so far visible to readers, soon."""
        self.index.note("batch", self._last)
        self.index.note("pack", self.pack)
        self.index.note("pack_end", self.pack_end)
        self.index.commit()
        self._uncommitted = 0
        self._committed_at = time.monotonic()
