"""What was given out of a file before: a digest of each of its lines, by which another tail goes on."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from hashlib import blake2b

from msgspec import Struct

from stenograph.model.event import Event

DIGEST = 8
"""Bytes of a line's digest."""
ANY = bytes(DIGEST)
"""In place of a digest: a line known by its number only."""
_LAST_LINE = 1 << 24  # a journal that names a later one is garbage, and not worth the memory


class Known(Struct, frozen=True, kw_only=True):
    """What was given out of a file before."""

    digests: bytes = b""
    """Eight bytes per line, from the first; zeros for a line that is known by its number only."""
    given: int | None = None
    """How many events of the last of these lines were given out; None for all."""
    events: int = 0
    """Events given out, all together."""


def known_lines(events: Iterable[Event], *, verbatim: bool = True) -> dict[str | None, Known]:
    """What a run's journal says was taken down, by file (None is the main one): the journal is the truth.

    The last line of a file may have been cut between two of its events. Lines are known by their raw text, those
    without one by their number; `verbatim=False` is for a journal whose raw text was masked.
    """
    found: dict[str | None, _Recorded] = {}
    for event in events:
        line = None if event.origin is None else event.origin.line
        if event.origin is not None and line is not None and 0 < line <= _LAST_LINE:
            found.setdefault(event.origin.file, _Recorded()).add(event, line, verbatim)
    return {
        file: Known(digests=bytes(each.digests), given=each.given, events=each.events) for file, each in found.items()
    }


class _Recorded:
    """What was recorded of one file so far."""

    def __init__(self) -> None:
        self.digests = bytearray()
        self.given = 0
        self.events = 0

    def add(self, event: Event, line: int, verbatim: bool) -> None:
        raw = _raw_of(event)
        lines = len(self.digests) // DIGEST
        self.events += 1
        self.given += 1
        if raw is None and line == lines:
            return
        # Only the first event of a line has its raw, so another raw at the same place is a line written anew.
        self.given = 1
        del self.digests[(line - 1) * DIGEST :]
        self.digests += ANY * (line - 1 - len(self.digests) // DIGEST)
        self.digests += digest_of(raw) if raw is not None and verbatim else ANY


def _raw_of(event: Event) -> bytes | None:
    if event.raw_b64 is not None:
        try:
            return base64.b64decode(event.raw_b64, validate=True)
        except ValueError:
            return None
    return None if event.raw is None else event.raw.encode("utf-8", "surrogatepass")


def digest_of(line: bytes) -> bytes:
    """What a line is known by."""
    return blake2b(line, digest_size=DIGEST).digest()
