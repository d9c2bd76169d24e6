"""The one place where an archive reads the agents' files, so that what it costs can be counted.

It follows no links and waits for no pipes: it reads only regular files in the given folders. (A database is read by
SQLite; of that, the rows are counted.)
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from stenograph.archive.keep.walk import status_of
from stenograph.archive.store.pack import FRAME_BYTES
from stenograph.errors import unreadable
from stenograph.formats.base import FormatSpec
from stenograph.sources.detection import Detection, Head, look_at
from stenograph.sources.files import regular_fd

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class OpenInput:
    """An open file of an agent, up to the size that it had when it was opened."""

    def __init__(self, fd: int, path: Path, counter: InputFiles) -> None:
        self._fd = fd
        self._path = path
        self._counter = counter
        self.status = status_of(os.fstat(fd))

    def read(self, start: int, length: int) -> bytes:
        """At most `length` bytes from an offset."""
        try:
            data = os.pread(self._fd, length, start)
        except OSError as error:
            raise unreadable(self._path, error) from error
        self._counter.bytes += len(data)
        return data

    def chunks(self, start: int) -> Iterator[bytes]:
        """The bytes from an offset to the end that the file had when it was opened."""
        end = self.status.st_size
        while start < end and (chunk := self.read(start, min(FRAME_BYTES, end - start))):
            yield chunk
            start += len(chunk)


class InputFiles:
    """Opens agents' files and counts what is read of them."""

    def __init__(self) -> None:
        self.bytes = 0
        """Bytes read."""

    @contextmanager
    def opened(self, path: Path) -> Iterator[OpenInput]:
        """The open file. Raises `SourceError` for a file that is not regular or cannot be read."""
        try:
            fd = regular_fd(path, os.O_NOFOLLOW)
        except OSError as error:
            raise unreadable(path, error) from error
        try:
            yield OpenInput(fd, path, self)
        finally:
            os.close(fd)

    def detect(self, path: Path, spec: FormatSpec | None = None) -> tuple[Detection, Head]:
        """What a file is, and its beginning. Raises `SourceError` for a file that cannot be read."""
        return look_at(path, spec, self._open)

    def open(self, path: Path) -> BinaryIO:
        """Open a file that `walk` did not find: no folder above it may be a link, either."""
        if os.path.realpath(path.parent) != str(path.parent):
            raise OSError(errno.ELOOP, "behind a symbolic link", str(path))
        return self._open(path)

    def _open(self, path: Path) -> BinaryIO:
        return io.BufferedReader(_CountedFile(regular_fd(path, os.O_NOFOLLOW), self))


class _CountedFile(io.FileIO):
    """Counts the bytes that each system call read."""

    def __init__(self, fd: int, counter: InputFiles) -> None:
        super().__init__(fd, "rb")
        self._counter = counter

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        length = super().readinto(buffer)
        self._counter.bytes += length or 0
        return length

    def readall(self) -> bytes:
        data = super().readall() or b""
        self._counter.bytes += len(data)
        return data
