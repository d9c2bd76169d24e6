"""Which pieces of something that only grows a store has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.fleet.store.keys import start_of
from stenograph.fleet.store.objects import Entry


class Forked(Exception):
    """The store has, under our archive's id, what this archive never had: two machines use one id."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Raced(Exception):
    """Another sender created the piece that we were about to create: list the store again."""


def pieces_in(entries: Iterable[Entry]) -> list[tuple[int, int]]:
    """Where the pieces begin and end that were listed, in order; for pieces whose size is their length."""
    return sorted(
        (start, start + entry.size) for entry in entries if (start := start_of(entry.key)) is not None and entry.size
    )


def missing(pieces: Iterable[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """The ranges of a given length that no piece covers: after the last piece, and where one was deleted."""
    end = 0
    for first, last in pieces:
        if first > end:
            yield end, first
        end = max(end, last)
    if end < size:
        yield end, size
