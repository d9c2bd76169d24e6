"""The files of received conversations: one append-only file for each, with a line for each piece that came.

Several processes may append to one file at once: a line is one write to its end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from stenograph.archive.keep.walk import received_in
from stenograph.disk import sync_data, write_all
from stenograph.errors import StoreError
from stenograph.formats.otlp.routing import Routed, request_of

OPEN_FILES = 64
"""Files that are open at once: a request may be of thousands of conversations."""


class RunFiles:
    """The files of received conversations of one archive."""

    def __init__(self, archive: Path) -> None:
        """Raises `StoreError` where the folder cannot be made."""
        self._folder = received_in(archive)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise self._trouble(error) from error

    def append(self, routed: Routed) -> set[str]:
        """Append what came to the files of its conversations; it is on disk on return. Returns their paths."""
        lines = {str(self._path(key)): request_of(key, pieces) for key, pieces in routed.items()}
        try:
            for some in _batches(lines.items()):
                _append(some)
        except OSError as error:
            raise self._trouble(error) from error
        return set(lines)

    def _path(self, key: str) -> Path:
        return self._folder / f"{sha256(key.encode('utf-8', 'replace')).hexdigest()[:32]}.jsonl"

    def _trouble(self, error: OSError) -> StoreError:
        message = f"cannot write to {self._folder}: {error.strerror}; check room and permissions"
        return StoreError(message, str(self._folder))


def _append(lines: Iterable[tuple[str, bytes]]) -> None:
    """Append a line to each file, and wait for the disk once all are written."""
    opened: list[int] = []
    try:
        for path, line in lines:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            opened.append(fd)
            write_all(fd, line if _ends_with_newline(fd) else b"\n" + line)
        for fd in opened:
            sync_data(fd)
    finally:
        for fd in opened:
            os.close(fd)


def _ends_with_newline(fd: int) -> bool:
    """Whether a line can begin at the end of the file: a crash may have left half of one."""
    size = os.fstat(fd).st_size
    return size == 0 or os.pread(fd, 1, size - 1) == b"\n"


def _batches(lines: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    left = iter(lines)
    while some := list(islice(left, OPEN_FILES)):
        yield some
