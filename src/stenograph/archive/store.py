"""The one writer of an archive: its lock, its packs, its index, and how the two stay in step.

Theory of operation. A batch first appends frames to the packs and then changes the index, in one transaction that may
span several batches; `facts` says how far the packs are indexed. So after a crash the index is behind the packs, never
ahead: opening the store indexes the frames that it lacks, by the same code that makes a whole index again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from types import TracebackType
from typing import Self

from stenograph.archive.file_reading import FileReading, Lines, events_in, lines_in, most
from stenograph.archive.frozen_parser import SideFile, UnknownState, freeze, program_of, thaw
from stenograph.archive.home import Home
from stenograph.archive.indexing import Indexer
from stenograph.archive.kept_file import KeptBytes, KeptFile, load_files, tail_of
from stenograph.archive.lock import Lock
from stenograph.archive.pack import (
    About,
    Damage,
    Header,
    PackWriter,
    Place,
    cut_tail,
    pack_path,
    packs_in,
    payload_of,
    scan,
)
from stenograph.archive.schema import SCHEMA, check_schema, open_index, schema_of
from stenograph.errors import SourceError
from stenograph.formats.base import FormatSpec
from stenograph.model.event import Event
from stenograph.sources.detection import format_named
from stenograph.sources.merge import merged

_COMMIT_BYTES = 1 << 24
_COMMIT_SECONDS = 1.0
Found = tuple[Header, Place]
Progress = Callable[[int], None]


class Side:
    """Gives a parser the side files it asks for: those that are kept, or first keeps those that are there."""

    def __init__(self, file: int, kept: KeptBytes, live: SideFile | None = None) -> None:
        self._file = file
        self._kept = kept
        self._live = live
        self.found: Callable[[str, bytes], None] | None = None

    def __deepcopy__(self, memo: object) -> Self:
        """A copy of a parser asks the same one."""
        return self

    def __call__(self, name: str) -> str | None:
        kept = self._kept.side(self._file, name)
        text = None if self._live is None else self._live(name)
        if text is None:
            return None if kept is None else kept.decode("utf-8", "replace")
        data = text.encode("utf-8", "replace")
        if data != kept and self.found is not None:
            self.found(name, data)
        return text


class Opened:
    """A file that takes part in a batch, with its parser."""

    def __init__(self, file: KeptFile, spec: FormatSpec, side: Side, reading: FileReading) -> None:
        self.file = file
        self.spec = spec
        self.side = side
        self.reading = reading

    def feed(self, data: bytes) -> list[Event]:
        """The new events in the next bytes of the file."""
        self.file.kept += len(data)
        return self.reading.feed(data)


class Store:
    """An archive to write to. Raises `StoreLocked` when another process writes, `StoreError` for a newer archive."""

    def __init__(
        self, home: Home, *, rebuild: bool = False, patience: float = 0.0, progress: Progress | None = None
    ) -> None:
        """`rebuild` makes the index anew; another writer is waited for `patience` seconds.

        `progress` is told of the bytes that were indexed again.
        """
        home.make()
        self.home = home
        self.damaged = 0
        """Bytes of the packs that are no frames, or not what they were."""
        self.is_rebuilt = False
        """The index was made anew."""
        self.left_to_others = 0
        """Events of runs that another format had taken down already."""
        self._progress = progress or (lambda _: None)
        self._lock = Lock(home.write_lock, "steno sync or steno watch")
        self._lock.acquire(patience)
        try:
            self._open(rebuild)
        except BaseException:
            if hasattr(self, "connection"):
                self.connection.close()
            self._lock.release()
            raise

    def _open(self, rebuild: bool) -> None:
        number = schema_of(self.home.index)
        check_schema(self.home.path, number or 0, readonly=False)
        has_packs = bool(packs_in(self.home.kept))
        is_new = not self.home.index.exists()
        if rebuild or number != SCHEMA:
            self._discard()
        if not self._is_connected() or self._is_ahead():
            self.connection.close()
            self._discard()
            self._connect()
        self.is_rebuilt = has_packs and (rebuild or is_new or not self.batch)
        self._replay()
        self.packs = PackWriter(self.home.kept)

    def _is_connected(self) -> bool:
        """Whether the index could be opened and read: a broken one is made anew."""
        try:
            self._connect()
        except sqlite3.OperationalError:  # busy, or no room: not the index's fault
            raise
        except sqlite3.DatabaseError:
            return False
        return True

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.home.index.with_name(self.home.index.name + suffix).unlink(missing_ok=True)

    def _connect(self) -> None:
        self.connection: sqlite3.Connection = open_index(self.home.path, readonly=False)
        self.kept = KeptBytes(self.connection, self.home.kept)
        self.files = {file.about.path: file for file in load_files(self.connection)}
        self.by_id = {file.id: file for file in self.files.values()}
        self._indexer = Indexer(self.connection)
        facts = dict(self.connection.execute("SELECT name, value FROM facts"))
        self.batch = self._last_batch = int(facts.get("batch", 0))
        self._pack: int = facts.get("pack", 0)
        self._pack_end: int = facts.get("pack_end", 0)
        self._frames: int = self.connection.execute("SELECT coalesce(max(id), 0) FROM frames").fetchone()[0]
        self._uncommitted = 0
        self._committed_at = time.monotonic()
        self.connection.execute("BEGIN IMMEDIATE")

    def _is_ahead(self) -> bool:
        """Whether the index knows more than the packs hold: they were lost or cut, and only they count."""
        if not self._pack:
            return False
        try:
            return pack_path(self.home.kept, self._pack).stat().st_size < self._pack_end
        except FileNotFoundError:
            return True

    # Indexing what the packs hold.

    def _replay(self) -> None:
        """Index every frame that the index lacks."""
        for _, frames in groupby(self._unindexed(), key=lambda found: found[0].batch):
            self._replay_batch(list(frames))
        self.commit()

    def _unindexed(self) -> Iterator[Found]:
        numbers = [number for number in packs_in(self.home.kept) if number >= self._pack]
        for number in numbers:
            start = self._pack_end if number == self._pack else 0
            for found in scan(self.home.kept, number, start):
                if not isinstance(found, Damage):
                    yield found
                    continue
                self.damaged += found.end - found.start
                is_tail = number == numbers[-1] and found.end == pack_path(self.home.kept, number).stat().st_size
                if is_tail:
                    cut_tail(self.home.kept, found)

    def _replay_batch(self, frames: list[Found]) -> None:
        self.batch = frames[0][0].batch
        by_file: dict[int, list[Found]] = {}
        for found in frames:
            by_file.setdefault(found[0].file, []).append(found)
            self._met(found)
        opened = []
        series = []
        for number in sorted(by_file):
            bytes_frames = [found for found in by_file[number] if found[0].kind == "bytes"]
            if bytes_frames:
                each = self.open(self.by_id[number], is_begun=bytes_frames[0][0].start == 0)
                opened.append(each)
                series.append(self._replayed(each, bytes_frames))
        self._indexed(opened, series)

    def _met(self, found: Found) -> None:
        """Note a frame, and the file or version that it begins."""
        header, place = found
        about = header.about
        file = self.by_id.get(header.file)
        if about is not None and file is None:
            file = self.add_file(about, header.file)
        elif about is not None and file is not None:
            self._rename(file, about)
        if file is not None and header.kind == "bytes" and header.start == 0:
            file.version, file.kept = header.version, 0
        self._note(header, place)

    def _replayed(self, opened: Opened, frames: list[Found]) -> Iterator[Event]:
        for header, place in frames:
            try:
                data = payload_of(self.home.kept, place, header.length, header.sha256)
            except SourceError:
                self.damaged += header.length
                opened.file.kept += header.length  # so the file does not look as kept, and a new version begins
                continue
            self._progress(len(data))
            yield from opened.feed(data)
        yield from opened.reading.settle()

    # What a sync does.

    def add_file(self, about: About, id: int | None = None) -> KeptFile:
        """A file that was not kept before."""
        file = KeptFile(id or max(self.by_id, default=0) + 1, about)
        self.files[about.path] = self.by_id[file.id] = file
        file.write(self.connection, None)
        return file

    def move_file(self, file: KeptFile, about: About) -> None:
        """Note that a file has another path now."""
        self._append(Header(kind="moved", file=file.id, version=file.version, batch=self.batch, about=about), b"")
        self._rename(file, about)

    def _rename(self, file: KeptFile, about: About) -> None:
        self.files.pop(file.about.path, None)
        file.about = about
        self.files[about.path] = file
        file.write(self.connection, None)

    @property
    def events(self) -> int:
        """Events indexed, ever."""
        return self._indexer.events

    def begin_batch(self) -> None:
        """Everything appended from now on belongs to one session."""
        self.batch = self._last_batch + 1

    def open(self, file: KeptFile, *, is_begun: bool, live: SideFile | None = None) -> Opened:
        """A file with its parser where it stopped; with `is_begun`, at the beginning of a (new) version."""
        spec = format_named(file.about.format)
        side = Side(file.id, self.kept, live)
        twins = self._twins(file)
        reading = None if is_begun or file.about.is_document else self._thawed(file, spec, side)
        if reading is None:
            versions = [(twin, number) for twin in twins for number in range(1, twin.version + 1)]
            versions += [(file, number) for number in range(1, file.version)]
            known = most(self._lines_of(each, number, spec, side) for each, number in versions)
            reading = FileReading(file.about, spec, side, known)
            if not is_begun:
                self._read_again(file, reading)
        elif twins:
            known = most(self._lines_of(twin, n, spec, side) for twin in twins for n in range(1, twin.version + 1))
            reading.know(known - self._lines_of(file, file.version, spec, side))
        return Opened(file, spec, side, reading)

    def _twins(self, file: KeptFile) -> list[KeptFile]:
        """Other files with the same speaker of the same run: copies, or pieces of one thread."""
        query = "SELECT id FROM files WHERE run_id = ? AND source = ? AND format = ? AND id != ? ORDER BY id"
        about = file.about
        rows = self.connection.execute(query, (about.run_id, about.source, about.format, file.id)).fetchall()
        return [self.by_id[number] for (number,) in rows]

    def _lines_of(self, file: KeptFile, version: int, spec: FormatSpec, side: Side) -> Lines:
        chunks = self.kept.sound_chunks(file.id, version, self.batch)
        return events_in(chunks, file.about, spec, side) if file.about.is_document else lines_in(chunks)

    def _read_again(self, file: KeptFile, reading: FileReading) -> None:
        for _, chunks in self.kept.batches(file.id, file.version, self.batch, is_tolerant=True):
            for chunk in chunks:
                reading.feed(chunk)
            reading.settle()

    def _thawed(self, file: KeptFile, spec: FormatSpec, side: Side) -> FileReading | None:
        query = "SELECT state FROM parsers WHERE file = ? AND program = ?"
        row = self.connection.execute(query, (file.id, program_of(spec))).fetchone()
        try:
            reading = None if row is None else thaw(row[0], spec, side)
        except UnknownState:
            return None
        return reading if isinstance(reading, FileReading) else None

    def keep(self, opened: Opened, data: bytes) -> None:
        """Append the next bytes of a file to the packs; `Opened.feed` comes after."""
        file = opened.file
        about = file.about if file.kept == 0 else None
        header = Header(
            kind="bytes", file=file.id, version=file.version, batch=self.batch, start=file.kept, about=about
        )
        self._append(header, data)

    def keep_side(self, file: KeptFile, name: str, data: bytes) -> None:
        """Append the bytes of a side file."""
        header = Header(kind="side", file=file.id, version=file.version, batch=self.batch, name=name)
        self._append(header, data)

    def index_batch(self, opened: list[Opened], series: list[Iterator[Event]]) -> None:
        """Index what the series give, which belong to the opened files in the order of their ids."""
        for each in opened:
            each.side.found = lambda name, data, file=each.file: self.keep_side(file, name, data)
        self._indexed(opened, series)

    def _indexed(self, opened: list[Opened], series: list[Iterator[Event]]) -> None:
        events: Iterable[Event] = series[0] if len(series) == 1 else merged(series)
        self.left_to_others += self._indexer.index(events, [each.file.about for each in opened])
        for each in opened:
            self._settled(each)
        if self._uncommitted >= _COMMIT_BYTES or time.monotonic() - self._committed_at > _COMMIT_SECONDS:
            self.commit()

    def _settled(self, opened: Opened) -> None:
        file, reading = opened.file, opened.reading
        file.tail = tail_of(reading.window)
        file.write(self.connection, reading)
        if not file.about.is_document:
            state = freeze(reading, opened.side)
            query = "INSERT OR REPLACE INTO parsers VALUES (?, ?, ?)"
            self.connection.execute(query, (file.id, program_of(opened.spec), state))

    def _append(self, header: Header, data: bytes) -> None:
        header, place = self.packs.append(header, data)
        self._note(header, place)

    def _note(self, header: Header, place: Place) -> None:
        self._frames += 1
        self._last_batch = header.batch
        self._uncommitted += header.length
        self._pack, self._pack_end = place.pack, place.end
        row = (self._frames, header.batch, header.kind, header.file, header.version, header.name, header.start)
        self.connection.execute(
            "INSERT INTO frames VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, header.length, place.pack, place.at, place.size),
        )

    def commit(self) -> None:
        """Make everything so far visible to readers."""
        facts = {"batch": self._last_batch, "pack": self._pack, "pack_end": self._pack_end}
        self.connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
        self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")
        self._uncommitted = 0
        self._committed_at = time.monotonic()

    def close(self) -> None:
        """Give up what is not committed, and the lock."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            self.packs.close()
            self.connection.close()
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
            self.packs.sync()
        self.close()
