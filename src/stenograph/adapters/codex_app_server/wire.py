"""Messages of the protocol as they are on a connection, and in a recording of both directions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from stenograph.model import mend
from stenograph.model.codec import REFUSALS

Direction = Literal["in", "out", "exit"]
"""From the server, to the server, or about its end."""

_decode = msgspec.json.Decoder().decode


class WireMessage(Struct, frozen=True):
    """One line of a connection, decoded once for all readers."""

    direction: Direction
    line: bytes
    """As it went over the connection, without its newline."""
    value: Any
    """Its value; `UNSET` if it is not JSON."""
    replaced: int = 0
    """Characters that no UTF-8 can hold, and that were replaced."""

    @property
    def is_json(self) -> bool:
        """Whether the formats take the line for JSON, odd JSON included."""
        return self.value is not UNSET


def wire_message(direction: Direction, line: bytes) -> WireMessage:
    """A line, decoded."""
    try:
        return WireMessage(direction, line, _decode(line))
    except REFUSALS:
        pass
    try:
        return WireMessage(direction, line, *mend.parse_json(line))
    except (ValueError, RecursionError):
        return WireMessage(direction, line, UNSET)


def wrapped(message: WireMessage, seconds: float, process: int) -> bytes:
    """The line with its direction and time, newline included; what is not JSON stays as it is."""
    if not message.is_json:
        return message.line + b"\n"
    values = (message.direction.encode(), process, seconds, message.line)
    return b'{"dir":"%s","proc":%d,"t":%.6f,"msg":%s}\n' % values


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
