"""Events that are read twice, the second time from memory when they are few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from stenograph.errors import InvalidEvent
from stenograph.model.codec import encode_into
from stenograph.model.event import Event

KEPT_BYTES = 32_000_000
"""How many bytes of journal lines are kept; of a longer run nothing is."""


class TwoPass:
    """Iterate it twice: the first time it reads, the second time it uses what it kept, or reads again."""

    def __init__(self, read: Callable[[], Iterable[Event]], *, limit: int = KEPT_BYTES) -> None:
        self._read = read
        self._limit = limit
        self._kept: list[Event] | None = None

    def __iter__(self) -> Iterator[Event]:
        return self._first() if self._kept is None else iter(self._kept)

    def _first(self) -> Iterator[Event]:
        events = iter(self._read())
        kept: list[Event] = []
        buffer = bytearray()
        size = 0
        for event in events:
            kept.append(event)
            size += _size(event, buffer)
            if size > self._limit:
                kept, buffer = [], bytearray()  # a long line must not stay in memory beside what is made of it
                yield event
                del event
                yield from events
                return
            yield event
        self._kept = kept


def _size(event: Event, buffer: bytearray) -> int:
    try:
        encode_into(event, buffer)
    except (InvalidEvent, UnicodeEncodeError):  # a journal cannot hold it, so its size is unknown
        return KEPT_BYTES + 1
    return len(buffer)
