"""The spool: requests as they came, on disk before they are acknowledged, until they are written to runs.

Theory of operation. A segment is a file of entries: lengths and a checksum, then the request's bytes. The place of an
entry is its offset in all bytes that the spool ever had. A thread appends under a lock and then waits for the disk; one
sync serves all threads that wait. `done` notes the place up to which entries are in runs, and removes segments before
it. After a crash, `unread` gives what is behind that place. A torn entry at the end was never acknowledged, and is cut
off.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from stenograph.disk import sync_data, sync_path
from stenograph.errors import StoreError

SEGMENT_BYTES = 64 << 20
_KEPT_BYTES = 1 << 20
"""The last segment is not removed while it is smaller, although all of it is in runs."""
_HEAD = struct.Struct("<4sII")
_MAGIC = b"\x93SO1"
_DONE = "done"


class Entry(Struct, frozen=True):
    """One request."""

    kind: str
    """Signal, content type and encoding of the request."""
    body: bytes
    end: int
    """The place behind it."""


class Spool:
    """The spool of one archive. For one process at a time; any number of threads append."""

    def __init__(self, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        """Raises `StoreError` where the folder cannot be written."""
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()  # protects the file that is appended to, and its end
        self._turn = threading.Condition()  # protects the two below
        self._synced = 0
        self._is_syncing = False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._done = self._read_done()
            self._start = max(self._segments(), default=self._done)
            self._fd = self._opened(self._start)
            self._end = self._start + self._sound_length()
        except OSError as error:
            raise self._trouble(error) from error
        self._synced = self._end

    def append(self, kind: str, body: bytes) -> int:
        """Add a request; it is on disk on return. The place behind it. Raises `StoreError`."""
        name = kind.encode()
        data = len(name).to_bytes(2, "little") + name + body
        try:
            with self._lock:
                if self._end - self._start > self._segment_bytes:
                    self._begin_segment()
                os.writev(self._fd, [_HEAD.pack(_MAGIC, len(data), zlib.crc32(data)), data])
                self._end += _HEAD.size + len(data)
                end = self._end
            self._wait(end)
        except OSError as error:
            raise self._trouble(error) from error
        return end

    def unread(self) -> Iterator[Entry]:
        """The requests that are not in a run yet, in order."""
        for start in self._segments():
            with self._path(start).open("rb") as file:
                place = start
                for kind, body, size in _entries(file.read()):
                    place += size
                    if place > self._done:
                        yield Entry(kind, body, place)

    def done(self, place: int) -> None:
        """Note that everything before a place is in runs, and on disk."""
        if place <= self._done:
            return
        try:
            temporary = self._folder / f"{_DONE}.new"
            temporary.write_text(f"{place}\n")
            temporary.replace(self._folder / _DONE)
            self._done = place
            self._let_go(_KEPT_BYTES)
        except OSError as error:
            raise self._trouble(error) from error

    def close(self) -> None:
        """Close the file, and remove what is in runs."""
        self._let_go(0)
        os.close(self._fd)

    def _let_go(self, most: int) -> None:
        """Remove the segments that are in runs; the last one, too, when it is larger than `most`."""
        with self._lock:
            if self._done >= self._end and self._end - self._start > most:
                self._begin_segment()
        for start, following in pairwise(self._segments()):
            if following <= self._done:
                self._path(start).unlink()

    def _wait(self, end: int) -> None:
        """Return when everything up to a place is on disk; one of the waiting threads syncs for all."""
        while True:
            with self._turn:
                while self._is_syncing and self._synced < end:
                    self._turn.wait()
                if self._synced >= end:
                    return
                self._is_syncing = True
            reached = 0
            try:
                with self._lock:
                    reached, fd = self._end, os.dup(self._fd)
                try:
                    sync_data(fd)
                finally:
                    os.close(fd)
            except OSError:
                reached = 0
                raise
            finally:
                with self._turn:
                    self._is_syncing = False
                    self._synced = max(self._synced, reached)
                    self._turn.notify_all()

    def _begin_segment(self) -> None:
        sync_data(self._fd)
        os.close(self._fd)
        self._start = self._end
        self._fd = self._opened(self._start)

    def _opened(self, start: int) -> int:
        fd = os.open(self._path(start), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        sync_path(self._folder)  # the name of a new file is on disk before anything in it counts
        return fd

    def _sound_length(self) -> int:
        """Cut off a torn entry at the end of the last segment; returns the length that is left."""
        with self._path(self._start).open("rb") as file:
            length = sum(size for _, _, size in _entries(file.read()))
        os.ftruncate(self._fd, length)
        return length

    def _segments(self) -> list[int]:
        return sorted(int(path.stem) for path in self._folder.glob("*.spool") if path.stem.isdecimal())

    def _path(self, start: int) -> Path:
        return self._folder / f"{start:016}.spool"

    def _read_done(self) -> int:
        try:
            return int((self._folder / _DONE).read_text())
        except (FileNotFoundError, ValueError):
            return min(self._segments(), default=0)

    def _trouble(self, error: OSError) -> StoreError:
        message = f"cannot write the spool {self._folder}: {error.strerror}; check room and permissions"
        return StoreError(message, str(self._folder))


def _entries(data: bytes) -> Iterator[tuple[str, bytes, int]]:
    """The whole entries at the beginning of some bytes: kind, body and size of each."""
    at = 0
    while at + _HEAD.size <= len(data):
        magic, length, checksum = _HEAD.unpack_from(data, at)
        content = data[at + _HEAD.size : at + _HEAD.size + length]
        if magic != _MAGIC or len(content) < length or zlib.crc32(content) != checksum:
            return
        split = 2 + int.from_bytes(content[:2], "little")
        yield content[2:split].decode("utf-8", "replace"), content[split:], _HEAD.size + length
        at += _HEAD.size + length
