"""Which lines of a file were emitted before, by their digests, so that they are not emitted again."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b

from msgspec import Struct

from stenograph.model.event import Event

DIGEST = 8
"""Bytes of a line's digest."""
ANY = bytes(DIGEST)
"""In place of a digest: a line known by its number only."""
_LAST_LINE = 1 << 24  # a journal that names a later line is damaged, and not worth the memory


class Known(Struct, frozen=True, kw_only=True):
    """What was emitted of a file before."""

    digests: bytes = b""
    """Eight bytes per line, from the first; zeros for a line that is known by its number only."""
    emitted: int | None = None
    """How many events of the last of these lines were emitted; None for all."""
    events: int = 0
    """Events emitted, all together."""


class LineSeries:
    """The lines of a file that were emitted, in order: while the same lines come, they are not emitted again.

    The first line that differs ends this. For a `FileCursor` that reads the file from its beginning.
    """

    def __init__(self, known: Known) -> None:
        self._digests = bytearray(known.digests)
        self._emitted = known.emitted
        self._at = 0

    @property
    def lines(self) -> int:
        """Lines emitted."""
        return len(self._digests) // DIGEST

    @property
    def is_exhausted(self) -> bool:
        """Whether the file was read to the end of what was emitted."""
        return self._at == self.lines

    def begin(self) -> None:
        """Go back to the beginning of the file."""
        self._at = 0

    def forget_last(self) -> None:
        """Forget the line that was read last: it was only the beginning of a line."""
        self._at -= 1
        del self._digests[self._at * DIGEST :]

    def add(self, block: bytes) -> None:
        """Note whole lines after all that were emitted."""
        lines = block.split(b"\n")[:-1]
        self._digests += b"".join(map(digest_of, lines))
        self._at += len(lines)

    def new_events(self, line: bytes, events: list[Event]) -> list[Event]:
        """The events of the next line that were not emitted before."""
        at = self._at * DIGEST
        digest = digest_of(line)
        is_known = self._digests[at : at + DIGEST] in (digest, ANY)
        is_last = self._at + 1 == self.lines
        self._at += 1
        if not is_known:
            self._digests[at:] = digest
            self._emitted = None
            return events
        self._digests[at : at + DIGEST] = digest
        if not is_last or self._emitted is None:
            return []
        emitted, self._emitted = self._emitted, None
        return events[emitted:]

    def has(self, first: int, lines: list[bytes]) -> bool:
        """Whether these lines were emitted, from the line with that number (from 0) on."""
        at = first * DIGEST
        return self._digests[at : at + len(lines) * DIGEST] == b"".join(map(digest_of, lines))

    def known(self, events: int) -> Known:
        """What another tail needs to go on, with the number of events that this one emitted."""
        return Known(digests=bytes(self._digests), emitted=self._emitted, events=events)


class LineCounts(Counter[bytes]):
    """How often each line, by its digest, was emitted: each of these accounts for one equal line, wherever it is."""

    @property
    def is_exhausted(self) -> bool:
        """Whether none of them is left."""
        return not self

    def add(self, block: bytes) -> None:
        """Do nothing: new lines account for no others."""

    def new_events(self, line: bytes, events: list[Event]) -> list[Event]:
        """The events of a line unless it was emitted before."""
        return [] if self.take(digest_of(line)) else events

    def take(self, digest: bytes) -> bool:
        """Whether one with that digest is left; if so, it is used up."""
        left = self.get(digest, 0)
        if left > 1:
            self[digest] = left - 1
        elif left:
            del self[digest]
        return left > 0


def known_lines(events: Iterable[Event], *, verbatim: bool = True) -> dict[str | None, Known]:
    """The lines that a run's journal has recorded, by file (None is the main one): the journal is the truth.

    Recording may have ended between two events of a file's last line. Lines are identified by their raw text, those
    without one by their number; `verbatim=False` is for a journal whose raw text was masked.
    """
    found: dict[str | None, _Recorded] = {}
    for event in events:
        line = None if event.origin is None else event.origin.line
        if event.origin is not None and line is not None and 0 < line <= _LAST_LINE:
            found.setdefault(event.origin.file, _Recorded()).add(event, line, verbatim)
    return {
        file: Known(digests=bytes(each.digests), emitted=each.emitted, events=each.events)
        for file, each in found.items()
    }


class _Recorded:
    """What was recorded of one file so far."""

    def __init__(self) -> None:
        self.digests = bytearray()
        self.emitted = 0
        self.events = 0

    def add(self, event: Event, line: int, verbatim: bool) -> None:
        raw = _raw_of(event)
        lines = len(self.digests) // DIGEST
        self.events += 1
        self.emitted += 1
        if raw is None and line == lines:
            return
        # Only the first event of a line has its raw text, so another raw text there means that the line was rewritten.
        self.emitted = 1
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
    """The digest that identifies a line."""
    return blake2b(line, digest_size=DIGEST).digest()
