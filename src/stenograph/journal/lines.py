"""Complete lines of a file that may still be growing.

A line exists once its newline does. What follows the last newline is neither returned nor remembered: it is read again
when more has come, so a writer may cut off a half line and no reader mixes old bytes with new.
"""

from __future__ import annotations

import os

CHUNK = 1 << 20


class LineReader:
    """Reads complete lines from an open file, from an offset on."""

    def __init__(self, fd: int, offset: int = 0) -> None:
        self.fd = fd
        self.offset = offset
        """Where the next line begins."""

    def read(self, limit: int | None = None) -> list[bytes]:
        """The next complete lines without their newlines, about a megabyte of them; empty when there are none yet.

        Never looks beyond `limit`, when one is given.
        """
        size = CHUNK
        while True:
            wanted = size if limit is None else min(size, limit - self.offset)
            data = os.pread(self.fd, wanted, self.offset) if wanted > 0 else b""
            end = data.rfind(b"\n")
            if end >= 0:
                self.offset += end + 1
                return data[:end].split(b"\n")
            if len(data) < size:
                return []
            size *= 4  # one line longer than the chunk: look at more of it


def last_newline(fd: int, end: int) -> int:
    """The offset just after the last newline before `end`; 0 when there is none."""
    size = 1 << 16
    while end > 0:
        start = max(0, end - size)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
        size = min(size * 2, 1 << 24)
    return 0
