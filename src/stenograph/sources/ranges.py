"""Digests of the fixed ranges of a file: they show whether bytes that were read before are still the same.

A file that has grown may have been edited before its old end, and neither its size nor its time shows that. So the
archive also keeps a digest of every `RANGE` bytes of a file; later any of the ranges can be read again and compared, a
few at a time. Docs/design/008-edited-files.md says which are compared when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

RANGE = 1 << 14
"""Bytes of a range. Ranges begin at multiples of it; the last one may be shorter."""
DIGEST = 8
"""Bytes of a range's digest."""


def range_digest(data: bytes | memoryview) -> bytes:
    """The digest of the bytes of one range."""
    return sha256(data).digest()[:DIGEST]


def range_digests(data: bytes) -> Iterator[bytes]:
    """The digests of bytes that begin where a range does, range by range; the last one may be shorter."""
    view = memoryview(data)
    return (range_digest(view[at : at + RANGE]) for at in range(0, len(data), RANGE))


def last_range(size: int) -> tuple[int, int]:
    """Where the last range of `size` bytes begins, and its length; both are 0 for no bytes."""
    start = max(0, size - 1) // RANGE * RANGE
    return start, size - start


class Ranges:
    """The digests of a growing series of bytes. It can be pickled, and goes on when it is read back."""

    def __init__(self) -> None:
        self.whole = 0
        """Whole ranges so far."""
        self._last = b""  # the bytes of the last range, for its digest when it is whole
        self._made: list[bytes] = []

    @property
    def tail(self) -> bytes:
        """The digest of the last range, whole or not."""
        return range_digest(self._last)

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        view = memoryview(data)
        if 0 < len(self._last) < RANGE:
            view = view[RANGE - len(self._last) :]
            self._last += data[: RANGE - len(self._last)]
            self._note([self._last] if len(self._last) == RANGE else [])
        end = len(view) // RANGE * RANGE
        self._note(view[at : at + RANGE] for at in range(0, end, RANGE))
        if view:
            self._last = bytes(view[end:] or view[-RANGE:])

    def _note(self, whole: Iterable[bytes | memoryview]) -> None:
        before = len(self._made)
        self._made += map(range_digest, whole)
        self.whole += len(self._made) - before

    def take(self) -> bytes:
        """The digests of the ranges that became whole since this was last called."""
        made, self._made = b"".join(self._made), []
        return made
