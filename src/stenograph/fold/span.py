"""From when to when something went on: the first and the last time that its source tells."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.moment import moment_of


class Span(Struct, frozen=True, kw_only=True):
    """From when to when something went on, in the words of its events; empty where they tell no time."""

    started_at: str = ""
    ended_at: str = ""

    @property
    def seconds(self) -> float | None:
        """How long it took; None when the timestamps do not tell."""
        start, end = moment_of(self.started_at), moment_of(self.ended_at)
        return None if start is None or end is None or end < start else (end - start).total_seconds()


class SpanCounter:
    """Finds the earliest and the latest time, event by event.

    A time that the source did not tell (`Event.told_at`) does not count. Where none can be read as a moment, it is the
    first and the last as they are written.
    """

    __slots__ = ("_first", "_first_text", "_last", "_last_text", "_read")

    def __init__(self) -> None:
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._first_text = self._last_text = self._read = ""

    def add(self, event: Event) -> None:
        """Take the next event into account."""
        text = event.told_at
        if not text or text == self._read:
            return
        self._read = text
        moment = moment_of(text)
        if moment is None:
            if self._first is None:
                self._first_text, self._last_text = self._first_text or text, text
            return
        if self._first is None or moment < self._first:
            self._first, self._first_text = moment, text
        if self._last is None or moment >= self._last:
            self._last, self._last_text = moment, text

    @property
    def span(self) -> Span:
        """What was found so far."""
        return Span(started_at=self._first_text, ended_at=self._last_text)

    @property
    def moments(self) -> tuple[datetime | None, datetime | None]:
        """The same as moments; None where nothing tells one."""
        return self._first, self._last
