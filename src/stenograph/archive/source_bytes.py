"""The one place where an archive reads the agents' files, so that what it costs can be counted.

Links are never followed: what is read lies in the folders that were given. (A layout that must look for a subagent's
parent in a session, and a database, are read by `sources`.)
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from stenograph.archive.pack import FRAME_BYTES
from stenograph.errors import SourceError, unreadable
from stenograph.formats.base import FormatSpec
from stenograph.formats.registry import HEAD_BYTES
from stenograph.sources.database import MAGIC
from stenograph.sources.detection import LONGEST_FIRST_LINE, Detection, detect_file, detect_head
from stenograph.sources.document import may_be_document

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class OpenSource:
    """An open file of an agent, as long as it is now."""

    def __init__(self, fd: int, path: Path, counter: SourceBytes) -> None:
        self._fd = fd
        self._path = path
        self._counter = counter
        self.status = os.fstat(fd)

    def read(self, start: int, length: int) -> bytes:
        """So many bytes from an offset on, or what there is of them."""
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


class SourceBytes:
    """Opens agents' files and counts what is read of them."""

    def __init__(self) -> None:
        self.bytes = 0
        """Bytes read."""

    @contextmanager
    def opened(self, path: Path) -> Iterator[OpenSource]:
        """The open file. Raises `SourceError` for what is no regular file, or cannot be read."""
        try:
            fd = os.open(path, _FLAGS)
        except OSError as error:
            raise unreadable(path, error) from error
        try:
            source = OpenSource(fd, path, self)
            if not stat.S_ISREG(source.status.st_mode):
                raise SourceError(f"{path} is not a regular file; it is not kept", str(path))
            yield source
        finally:
            os.close(fd)

    def detect(self, path: Path, spec: FormatSpec | None = None) -> tuple[Detection, bytes]:
        """What a file is, and its beginning."""
        with self.opened(path) as source:
            head = source.read(0, HEAD_BYTES)
            while (
                b"\n" not in head and len(head) < LONGEST_FIRST_LINE and (more := source.read(len(head), FRAME_BYTES))
            ):
                head += more
            at = datetime.fromtimestamp(source.status.st_mtime, UTC)
        if head.startswith(MAGIC) or may_be_document(head):
            return detect_file(path, spec), head
        return detect_head(head, str(path), at, spec), head
