"""Several files of one run as one series."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from stenograph.model.event import Event
from stenograph.model.moment import moment_of

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def merged(series: Iterable[Iterable[Event]]) -> Iterator[Event]:
    """The events by the running maximum of each file's timestamps; never reordered inside a file."""
    placed = [_with_maximum(each) for each in series]
    for _, event in heapq.merge(*placed, key=lambda pair: pair[0]):
        yield event


def _with_maximum(events: Iterable[Event]) -> Iterator[tuple[datetime, Event]]:
    latest = _LONG_AGO
    text = ""
    for event in events:
        if event.timestamp != text:
            text = event.timestamp
            latest = max(latest, moment_of(text) or latest)
        yield latest, event
