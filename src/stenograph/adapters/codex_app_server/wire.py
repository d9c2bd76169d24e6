"""Lines of the protocol as a recording of both directions keeps them, which is what the format reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from stenograph.model import mend
from stenograph.model.codec import REFUSALS

Direction = Literal["in", "out", "exit"]
"""From the server, to the server, or about its end."""

_is_fine = msgspec.json.Decoder(msgspec.Raw).decode


def wrapped(direction: Direction, line: bytes, seconds: float, process: int) -> bytes:
    """A line with its direction and time, newline included; what is no JSON stays as it is."""
    if not is_json(line):
        return line + b"\n"
    return b'{"dir":"%s","proc":%d,"t":%.6f,"msg":%s}\n' % (direction.encode(), process, seconds, line)


def is_json(line: bytes) -> bool:
    """Whether the formats would take it for JSON, odd JSON included."""
    try:
        _is_fine(line)
        return True
    except REFUSALS:
        pass
    try:
        mend.parse_json(line)
        return True
    except (ValueError, RecursionError):
        return False


class WireLog:
    """A file that wrapped lines are appended to, one `write()` each."""

    def __init__(self, path: str | Path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def append(self, line: bytes) -> None:
        """Add a line that has its newline."""
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def close(self) -> None:
        """Finish; once."""
        os.close(self._fd)
