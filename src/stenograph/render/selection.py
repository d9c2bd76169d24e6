"""Parts of a run's events: those for people, errors, tools, the last unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.fold.calls import CallPairs
from stenograph.fold.units import begins_unit
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload
from stenograph.render.names import is_aside


class Readable:
    """The events for people; `hidden` counts the others while it is iterated."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = events
        self.hidden = 0

    def __iter__(self) -> Iterator[Event]:
        for event in self._events:
            if is_aside(event):
                self.hidden += 1
            else:
                yield event


def tools_only(events: Iterable[Event]) -> Iterator[Event]:
    """Calls and their results."""
    return (event for event in events if isinstance(event.payload, ToolPayload))


def errors_only(events: Iterable[Event]) -> Iterator[Event]:
    """Errors, and results that are errors, each after its call; ends of runs and steps that failed."""
    pairs = CallPairs()
    calls: dict[int, Event] = {}
    for event in events:
        joined = pairs.add(event, None)
        if joined is not None and joined.is_call:
            calls[id(joined.pair)] = event  # `pairs` keeps the pair alive, so its identity stays unique
            continue
        failed = getattr(event.payload, "error", None) is not None
        call = None if joined is None else calls.pop(id(joined.pair), None)
        if failed and call is not None:
            yield call
        if failed or event.type == "error":
            yield event


def last_unit(events: Iterable[Event]) -> Iterator[Event]:
    """The last prompt to the main agent, and everything that followed."""
    kept: list[Event] = []
    for event in events:
        if begins_unit(event):
            kept.clear()
        kept.append(event)
    yield from kept
