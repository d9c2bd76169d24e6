"""Brings an archive back from a store: packs and journals byte for byte, then the index that is built from them.

Theory of operation. Packs are written piece by piece. After a pull that was killed, the next one cuts the unfinished
piece and continues. What was forgotten does not come back: content that a `forgotten` frame of the packs names, and
runs with a tombstone, are erased before anything is indexed. So the result equals what the lost machine had, and a
later pull brings what is new.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph.archive.index.schema import schema_of
from stenograph.archive.index.tables import SCHEMA
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.forgotten import add_forgotten, read_forgotten
from stenograph.archive.store.home import Home
from stenograph.archive.store.identity import FILE, ArchiveIdentity
from stenograph.archive.store.lock import Lock
from stenograph.archive.store.pack import (
    Damage,
    Place,
    erase,
    frames_in,
    is_erased,
    pack_path,
    packs_in,
    scan,
)
from stenograph.archive.writer import Store
from stenograph.atomic_file import make_folder, write_atomically
from stenograph.disk import sync_path
from stenograph.errors import InvalidRunId, RunNotFound, SourceError, StoreError
from stenograph.fleet.store.keys import (
    archive_folder,
    identity_key,
    journal_folder,
    journals_folder,
    pack_folder,
    packs_folder,
    piece_key,
)
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.pieces import missing, pieces_in
from stenograph.fleet.store.tombstones import archives_in, forgotten_runs, read_tombstone
from stenograph.model.ids import check_run_id

_PATIENCE = 30.0
"""Seconds to wait for another process that writes the archive."""
Progress = Callable[[int, int], None]
"""Called with the number of bytes that are here, and the number of all bytes."""


class Pulled(Struct, kw_only=True):
    """What came."""

    archive: str
    host: str
    user: str
    bytes: int = 0
    packs: int = 0
    journals: int = 0
    forgotten: int = 0
    """Runs with a tombstone, which were left out."""


def stored_archives(store: Objects) -> list[ArchiveIdentity]:
    """The archives in a store. Raises `SourceError`."""
    return [found for archive in archives_in(store) if (found := stored_identity(store, archive)) is not None]


def stored_identity(store: Objects, archive: str) -> ArchiveIdentity | None:
    """What a store says about one of its archives; None when it says nothing. Raises `SourceError`."""
    data = store.find(identity_key(archive))
    if not data:
        return None
    try:
        identity = msgspec.json.decode(data, type=ArchiveIdentity)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        identity = None
    if identity is None or identity.id != archive:
        key = identity_key(archive)
        raise SourceError(f"{key} of {store.url} does not say which archive it is; push that archive again", store.url)
    return identity


def find_archive(store: Objects, prefix: str) -> ArchiveIdentity:
    """The archive of that id, or the only one whose id begins so. Raises `RunNotFound`.

    Without permission to list the archives of a store, give the whole id.
    """
    if _is_uuid(prefix.lower()) and (found := stored_identity(store, prefix.lower())):
        return found
    matching = [each for each in stored_archives(store) if prefix and each.id.startswith(prefix.lower())]
    if len(matching) != 1:
        what = f"{len(matching)} archives begin with" if matching else "no archive is called"
        raise RunNotFound(f"{what} {prefix!r} in {store.url}; steno pull {store.url} lists them", store.url)
    return matching[0]


def pull(
    store: Objects,
    archive: ArchiveIdentity,
    home: Home,
    *,
    progress: Progress | None = None,
    indexing: Callable[[int], None] | None = None,
) -> Pulled:
    """Bring an archive into a folder that is empty, or that an earlier pull of it filled.

    `indexing` is called with the number of pack bytes that were indexed. Raises `SourceError` if the store lacks a part
    of it, and `StoreError` if the folder holds something else.
    """
    home.make()
    lock = Lock(home.write_lock, "steno sync or steno watch")
    lock.acquire(_PATIENCE)
    try:
        pulled = _Pulling(store, archive, home, progress or (lambda done, of: None)).run()
        is_stale = _indexes_any(home, _erase_removed(home.kept, read_forgotten(home.forgotten).on_purpose()))
    finally:
        lock.release()
    with Store(home, rebuild=is_stale, patience=_PATIENCE, progress=indexing):
        pass
    return pulled


def _indexes_any(home: Home, removed: set[int]) -> bool:
    """Whether the index has any of the files whose content was removed, so that it must be rebuilt."""
    if not removed or schema_of(home.index) != SCHEMA:
        return False
    with IndexReader(home.path) as reader:
        return any(file in removed for (file,) in reader.index.execute("SELECT id FROM files"))


class _Pulling:
    def __init__(self, store: Objects, archive: ArchiveIdentity, home: Home, progress: Progress) -> None:
        self._store = store
        self._archive = archive
        self._home = home
        self._progress = progress
        self._pulled = Pulled(archive=archive.id, host=archive.host, user=archive.user)
        self._done = 0
        self._total = 0

    def run(self) -> Pulled:
        home, archive = self._home, self._archive.id
        self._begin()
        packs: dict[int, list[tuple[int, int]]] = {}
        for name in self._store.folders(packs_folder(archive)):
            if name.isdecimal():
                packs[int(name)] = pieces_in(self._store.entries(pack_folder(archive, int(name))))
        if not packs:
            sends = "only events" if self._store.folders(archive_folder(archive)) else "nothing"
            raise SourceError(f"the archive {archive} sends {sends} to {self._store.url}; there is nothing to pull")
        forgotten = forgotten_runs(self._store, archive)
        self._forget(forgotten)
        journals = self._journals(forgotten)
        self._total = sum(end - start for pieces in (*packs.values(), *journals.values()) for start, end in pieces)
        for number, pieces in sorted(packs.items()):
            self._bring(pack_path(home.kept, number), pack_folder(archive, number), pieces, by_frames=True)
            self._pulled.packs += 1
        sync_path(home.kept)
        for run_id, pieces in journals.items():
            make_folder(home.journals)
            folder = journal_folder(archive, run_id)
            self._bring(home.journals / f"{run_id}.jsonl", folder, pieces, by_frames=False)
            self._pulled.journals += 1
        return self._pulled

    def _begin(self) -> None:
        """Write the archive's identity into the folder; refuse a folder with another archive."""
        home = self._home
        there = home.identity()
        if there is None and packs_in(home.kept):
            raise StoreError(f"{home.path} holds an archive without an id; give another folder", str(home.path))
        if there is not None and there.id != self._archive.id:
            raise StoreError(f"{home.path} holds the archive {there.id}; give another folder", str(home.path))
        if there is None:
            write_atomically(home.kept / FILE, [msgspec.json.encode(self._archive) + b"\n"])

    def _forget(self, forgotten: frozenset[str]) -> None:
        known = read_forgotten(self._home.forgotten).on_purpose()
        runs = [read_tombstone(self._store, self._archive.id, run_id) for run_id in sorted(forgotten - known)]
        add_forgotten(self._home.forgotten, runs)
        for run in runs:
            (self._home.journals / f"{run.run_id}.jsonl").unlink(missing_ok=True)
        self._pulled.forgotten = len(forgotten)

    def _journals(self, forgotten: frozenset[str]) -> dict[str, list[tuple[int, int]]]:
        folder = journals_folder(self._archive.id)
        runs = [name for name in self._store.folders(folder) if _is_uuid(name) and name not in forgotten]
        return {name: pieces_in(self._store.entries(journal_folder(self._archive.id, name))) for name in runs}

    def _bring(self, path: Path, folder: str, pieces: list[tuple[int, int]], *, by_frames: bool) -> None:
        """Write the pieces that a file lacks."""
        end = pieces[-1][1] if pieces else 0
        if gap := next(missing(pieces, end), None):
            raise SourceError(
                f"the store lacks bytes {gap[0]} to {gap[1]} of {folder}; push that archive again", folder
            )
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            if size > end:
                raise StoreError(f"{path} has more than {self._store.url}; give another folder", str(path))
            there = [piece for piece in pieces if piece[1] <= size]
            if there:
                self._compare(path, file.fileno(), folder, there[-1], by_frames=by_frames)
            at = there[-1][1] if there else 0
            self._count(at)
            for start, _ in pieces[len(there) :]:
                data = self._store.get(piece_key(folder, start))
                if not data.startswith(os.pread(file.fileno(), len(data), start)):  # it may be written in part
                    raise self._mismatch(path)
                os.pwrite(file.fileno(), data, start)
                self._pulled.bytes += len(data)
                self._count(len(data))
            os.fsync(file.fileno())

    def _compare(self, path: Path, fd: int, folder: str, piece: tuple[int, int], *, by_frames: bool) -> None:
        """Check by one piece that the file was pulled from here; of packs by headers, since content may be erased."""
        start, end = piece
        theirs = self._store.get(piece_key(folder, start))
        ours = os.pread(fd, end - start, start)
        is_same = _headers(ours) == _headers(theirs) if by_frames else ours == theirs
        if not is_same:
            raise self._mismatch(path)

    def _mismatch(self, path: Path) -> StoreError:
        return StoreError(f"{path} is not what {self._store.url} has; give another folder", str(path))

    def _count(self, more: int) -> None:
        self._done += more
        self._progress(self._done, self._total)


def _is_uuid(name: str) -> bool:
    try:
        return check_run_id(name) == name
    except InvalidRunId:
        return False


def _headers(data: bytes) -> list[bytes]:
    return [frame.text for frame in frames_in(data) if not isinstance(frame, Damage)]


def _erase_removed(kept: Path, runs: frozenset[str]) -> set[int]:
    """Erase the content that `forgotten` frames name, and the files of these runs; returns the numbers of the files."""
    leaves: set[int] = set()
    files: set[int] = set()
    of_runs: set[int] = set()
    frames: list[tuple[int, int, Place]] = []
    leaf = 0  # the number of the frame, counted over all packs
    for pack in packs_in(kept):
        for found in scan(kept, pack):
            if isinstance(found, Damage):
                continue
            header, place = found
            if header.kind == "forgotten":
                files.add(header.file)
            leaves.update(header.leaves)
            if header.about is not None and header.about.run_id in runs:
                of_runs.add(header.file)
            if header.length:
                frames.append((leaf, header.file, place))
            leaf += 1
    wanted = [place for leaf, file, place in frames if leaf in leaves or file in of_runs]
    for pack in packs_in(kept):
        left = [place for place in wanted if place.pack == pack and not is_erased(kept, place)]
        if left:
            erase(kept, pack, left)
    return files | of_runs
