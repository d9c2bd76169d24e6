"""A file of a bundle while it grows: compressed by a thread of its own, so that writing costs little."""

from __future__ import annotations

import zlib
from collections import deque
from concurrent.futures import Executor, Future
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

LEVEL = 1
"""Of deflate: text shrinks to a quarter, and the writer does not have to wait."""
_CHUNK = 1 << 19
_AHEAD = 8
"""Chunks that may wait for the compressor."""


class Packed(Struct, frozen=True, kw_only=True):
    """A finished file: its raw deflate stream on disk, and its fields in a zip."""

    name: str
    path: Path
    size: int
    packed_size: int
    crc: int
    sha256: str


class ZipMember:
    """Takes the bytes of one file, until it is closed."""

    def __init__(self, name: str, path: Path, worker: Executor) -> None:
        """`worker` must have one thread: the chunks of a file are compressed in their order."""
        self.name = name
        self.size = 0
        self._path = path
        self._worker = worker
        self._buffer = bytearray()
        self._waiting: deque[Future[None]] = deque()
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._digest = sha256()
        self._crc = 0
        self._packed_size = 0
        self._file = path.open("xb")

    def write(self, data: bytes | memoryview) -> None:
        """Add bytes; raises the error of an earlier chunk, such as a full disk."""
        self.size += len(data)
        if len(data) > _CHUNK:  # piece by piece, to avoid a second copy of all of it
            view = memoryview(data)
            for start in range(0, len(data), _CHUNK):
                self._buffer += view[start : start + _CHUNK]
                self._hand_over()
            return
        self._buffer += data
        if len(self._buffer) >= _CHUNK:
            self._hand_over()

    def close(self) -> Packed:
        """End the file."""
        self._hand_over()
        while self._waiting:
            self._waiting.popleft().result()
        self._put(self._deflate.flush())
        self._file.close()
        return Packed(
            name=self.name,
            path=self._path,
            size=self.size,
            packed_size=self._packed_size,
            crc=self._crc,
            sha256=self._digest.hexdigest(),
        )

    def abandon(self) -> None:
        """Give up the file; what was written of it is useless."""
        for future in self._waiting:
            future.cancel()
        self._file.close()

    def _hand_over(self) -> None:
        chunk, self._buffer = self._buffer, bytearray()
        self._waiting.append(self._worker.submit(self._pack, chunk))
        while len(self._waiting) > _AHEAD:
            self._waiting.popleft().result()

    def _pack(self, chunk: bytearray) -> None:
        self._digest.update(chunk)
        self._crc = zlib.crc32(chunk, self._crc)
        self._put(self._deflate.compress(chunk))

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._packed_size += len(data)
