"""When something began and ended: the first and the last time that its source gives."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.moment import moment_of


class Span(Struct, frozen=True, kw_only=True):
    """When something began and ended, as its events write it; empty where they give no time."""

    started_at: str = ""
    ended_at: str = ""

    @property
    def seconds(self) -> float | None:
        """How long it took; None when the timestamps do not say."""
        start, end = moment_of(self.started_at), moment_of(self.ended_at)
        return None if start is None or end is None or end < start else (end - start).total_seconds()


class SpanCounter:
    """Finds the earliest and the latest time, event by event.

    A time that is not the source's own (`Event.told_at`) does not count. Where no time can be read as a
    moment, the span is the first and the last as they are written.
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
        """The span as moments; None where no time can be read."""
        return self._first, self._last
