"""Merging several files of one run into one series of events."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from stenograph.model.event import Event
from stenograph.model.moment import moment_of

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_MOST_WAITING = 100
"""The most records without a time, at the beginning of a file, that wait for the first time."""


def merged(series: Iterable[Iterable[Event]]) -> Iterator[Event]:
    """The events by the running maximum of each file's timestamps; never reordered inside a file."""
    placed = [_with_maximum(each) for each in series]
    for _, event in heapq.merge(*placed, key=lambda pair: pair[0]):
        yield event


def _with_maximum(events: Iterable[Event]) -> Iterator[tuple[datetime, Event]]:
    """Each event with its place in time: the latest time of its file so far.

    The first records of a file may have no time of their own. Theirs is the file's, at which it was last written, and
    so later than what comes next: they stand where the first record does that has one.
    """
    latest = _LONG_AGO
    text = ""
    waiting: list[Event] = []
    for event in events:
        if latest is _LONG_AGO and _is_untimed(event) and len(waiting) < _MOST_WAITING:
            waiting.append(event)
            continue
        if event.timestamp != text:
            text = event.timestamp
            latest = max(latest, moment_of(text) or latest)
        for each in waiting:
            yield latest, each
        waiting = []
        yield latest, event
    for each in waiting:
        latest = max(latest, moment_of(each.timestamp) or latest)
        yield latest, each


def _is_untimed(event: Event) -> bool:
    return event.origin is not None and event.origin.time == "given"
