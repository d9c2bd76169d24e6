"""The one writer of an archive: its lock, its packs, its index, and how the two stay in step.

Theory of operation. A batch first appends frames to the packs and then changes the index, in one transaction that may
span several batches; `facts` says how far the packs are indexed. So after a crash the index is behind the packs, never
ahead: opening the store indexes the frames that it lacks, by the same code that rebuilds a whole index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from stenograph.archive.index.publishing import publish
from stenograph.archive.index.publishing import remove as _remove
from stenograph.archive.index.schema import INDEX, check_schema, open_index, schema_of
from stenograph.archive.index.tables import SCHEMA
from stenograph.archive.keep.batches import Batches
from stenograph.archive.keep.opened_file import OpenedFile
from stenograph.archive.keep.replay import Progress, Replay
from stenograph.archive.store.forgotten import ForgottenRuns, read_forgotten
from stenograph.archive.store.home import Home
from stenograph.archive.store.identity import make_identity
from stenograph.archive.store.kept_file import KeptBytes, KeptFile
from stenograph.archive.store.lock import Lock
from stenograph.archive.store.pack import About, Header, PackWriter, pack_path, packs_in
from stenograph.model.event import Event
from stenograph.sources.layout import SideFile


class Store:
    """An archive open for writing. Raises `ArchiveLocked` when another process writes, `StoreError` for a newer one."""

    def __init__(
        self, home: Home, *, rebuild: bool = False, patience: float = 0.0, progress: Progress | None = None
    ) -> None:
        """`rebuild` rebuilds the index; `patience` is how many seconds to wait for another writer.

        `progress` is called with the number of bytes of packs that were indexed again.
        """
        home.make()
        self.home = home
        self.damaged = 0
        """Bytes of the packs that are not frames, or damaged."""
        self.is_rebuilt = False
        """The index was rebuilt."""
        self._batches: Batches | None = None
        self._left: tuple[object, ...] | None = None
        """The state of the archive when we paused."""
        self._lock = Lock(home.write_lock, "steno sync or steno watch")
        self._lock.acquire(patience)
        try:
            make_identity(home.kept)
            self._open(rebuild, progress or (lambda _: None))
        except BaseException:
            self._let_go_of_index()
            self._lock.release()
            raise

    def _open(self, rebuild: bool, progress: Progress) -> None:
        number = schema_of(self.home.index)
        check_schema(self.home.path, number or 0, readonly=False)
        has_packs = bool(packs_in(self.home.kept))
        _remove(self._unfinished_index)
        is_usable = not rebuild and number == SCHEMA and self._is_connected() and not self._is_ahead()
        if not is_usable or self.batches.can_read_more:
            self._let_go_of_index()
            self._make_anew(progress)
            self.is_rebuilt = has_packs
        else:
            self.is_rebuilt = has_packs and not self.batches.number
            self._replay(progress)
        self.packs = PackWriter(self.home.kept)
        if self.home.unfinished.exists():
            from stenograph.archive.store.forgetting import finish  # which needs a store

            finish(self)
        self.forgotten: ForgottenRuns = read_forgotten(self.home.forgotten)

    def _replay(self, progress: Progress) -> None:
        replay = Replay(self.batches, self.home.kept, progress, read_forgotten(self.home.forgotten).on_purpose())
        replay.run()
        self.damaged = replay.damaged

    # An index is rebuilt in a file of its own, so that readers see the old one until the new one is whole.

    @property
    def _unfinished_index(self) -> Path:
        return self.home.index.with_name("rebuild.db")

    def _make_anew(self, progress: Progress) -> None:
        fresh = self._unfinished_index
        self._connect(fresh.name)
        self._replay(progress)
        self.batches.index.settle()
        self._let_go_of_index()
        publish(fresh, self.home.index)
        self._connect()

    def _is_connected(self) -> bool:
        """Open the index; False for a broken one, which has to be rebuilt."""
        try:
            self._connect()
        except sqlite3.OperationalError:  # busy, or no room: not the index's fault
            raise
        except sqlite3.DatabaseError:
            return False
        return True

    def _connect(self, name: str = INDEX) -> None:
        connection = open_index(self.home.path, readonly=False, name=name)
        try:
            self._batches = Batches(connection, self.home.kept)
        except BaseException:
            connection.close()
            raise

    def _is_ahead(self) -> bool:
        """Whether the index has more than the packs: these were lost or cut, and only they count."""
        if not self.batches.pack:
            return False
        try:
            return pack_path(self.home.kept, self.batches.pack).stat().st_size < self.batches.pack_end
        except FileNotFoundError:
            return True

    # What the archive holds.

    @property
    def batches(self) -> Batches:
        """The index with its kept files."""
        assert self._batches is not None
        return self._batches

    @property
    def connection(self) -> sqlite3.Connection:
        """The index with everything that was added so far."""
        return self.batches.index.connection

    @property
    def files(self) -> dict[str, KeptFile]:
        """The kept files by their paths."""
        return self.batches.files.by_path

    @property
    def by_id(self) -> dict[int, KeptFile]:
        """The kept files by their numbers."""
        return self.batches.files.by_id

    @property
    def kept(self) -> KeptBytes:
        """Their bytes."""
        return self.batches.kept

    @property
    def events(self) -> int:
        """Events indexed, ever."""
        return self.batches.events

    # What a sync does.

    def begin_batch(self) -> None:
        """Begin a batch, which is of one session."""
        self.batches.begin()

    def add_file(self, about: About) -> KeptFile:
        """Add a file that was not kept before."""
        return self.batches.add_file(about)

    def move_file(self, file: KeptFile, about: About) -> None:
        """Note that a file has another path now, or more facts about its run."""
        number = self.batches.number
        self._append(Header(kind="moved", file=file.id, version=file.version, batch=number, about=about), b"")
        self.batches.files.rename(file, about)

    def write_file(self, file: KeptFile) -> None:
        """Write the row of a file."""
        file.write(self.batches.index)

    def open(self, file: KeptFile, *, is_begun: bool, live: SideFile | None = None) -> OpenedFile:
        """Open a file with its parser where it stopped; with `is_begun`, at the beginning of a (new) version."""
        return self.batches.open(file, is_begun=is_begun, live=live)

    def keep(self, opened: OpenedFile, data: bytes) -> None:
        """Append the next bytes of a file to the packs; `OpenedFile.feed` comes after."""
        file, number = opened.file, self.batches.number
        about = file.about if file.kept == 0 else None
        header = Header(kind="bytes", file=file.id, version=file.version, batch=number, start=file.kept, about=about)
        self._append(header, data)

    def keep_side(self, file: KeptFile, name: str, data: bytes) -> None:
        """Append the bytes of a side file."""
        number = self.batches.number
        self._append(Header(kind="side", file=file.id, version=file.version, batch=number, name=name), data)

    def _append(self, header: Header, data: bytes) -> None:
        self.batches.note(*self.packs.append(header, data))

    def mark_forgotten(self, file: int, leaves: list[int], *, why: str, at: str, by: str) -> None:
        """Append a frame which says that the content of these leaves was removed on purpose."""
        number = self.batches.number
        header = Header(kind="forgotten", file=file, version=0, batch=number, leaves=leaves, why=why, at=at, by=by)
        self._append(header, b"")

    def reconnect(self, between: Callable[[Path], None]) -> None:
        """Close the index, call `between` with its path, and open it again."""
        self._let_go_of_index()
        between(self.home.index)
        self._connect()

    def make_index_anew(self) -> None:
        """Rebuild the index from the packs."""
        self.packs.sync()
        self._let_go_of_index()
        self._make_anew(lambda _: None)

    def index_batch(self, opened: list[OpenedFile], series: list[Iterator[Event]]) -> None:
        """Index the events of the opened files, which are in the order of their ids: one series for each."""
        for each in opened:
            each.side.found = lambda name, data, file=each.file: self.keep_side(file, name, data)
        self.batches.add(opened, series)

    def commit(self) -> None:
        """Make everything so far visible to readers."""
        if self.batches.index.has_changes:
            self.batches.commit()
            self.batches.index.settle()

    def keep_in_memory(self, files: int) -> None:
        """Keep the parsers of at most this many files in memory from sync to sync, for files that grow."""
        self.batches.keep_in_memory(files)

    def save_parsers(self) -> None:
        """Write the parsers that are in memory to the index: the next process need not read their files again."""
        self.batches.save_parsers()

    def pause(self) -> None:
        """Commit, and let other processes write; see `resume`."""
        self.commit()
        self.packs.sync()
        self.batches.index.pause()
        self._left = self._state()
        self._lock.release()

    def resume(self, patience: float = 0.0) -> bool:
        """Take the lock again, waiting for `patience` seconds at most, and go on.

        False where another process wrote or removed something meanwhile: then the store is closed, and has to be
        opened again. Raises `ArchiveLocked`.
        """
        self._lock.acquire(patience)
        if self._left is None or self._state() != self._left:
            self.close()
            return False
        self.batches.index.resume()
        self.is_rebuilt, self.damaged = False, 0
        return True

    def _state(self) -> tuple[object, ...] | None:
        """A value that changes when another process writes; None where index and packs do not agree."""
        number, end = self.batches.pack, self.batches.pack_end
        try:
            size = pack_path(self.home.kept, number).stat().st_size if number else 0
            inode = self.home.index.stat().st_ino
        except OSError:
            return None
        if size != end or pack_path(self.home.kept, number + 1).exists() or self.home.unfinished.exists():
            return None
        return inode, size, self.batches.index.version()

    def close(self) -> None:
        """Discard what is not committed, and release the lock."""
        try:
            self._let_go_of_index()
            self.packs.close()
        finally:
            self._lock.release()

    def _let_go_of_index(self) -> None:
        if self._batches is not None:
            self._batches.index.close()
            self._batches = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
                self.packs.sync()
        finally:
            self.close()
