"""Units: one user message with everything up to the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msgspec import Struct

from stenograph.model.event import Event

BEGINS_UNIT = "type = 'message.user' AND source = 'main'"
"""`begins_unit` in SQL, over rows that have these columns."""


def begins_unit(event: Event) -> bool:
    """Whether a user speaks to the main agent: a subagent's prompt is part of the unit that spawned it."""
    return event.type == "message.user" and event.source == "main"


class Unit(Struct, frozen=True, kw_only=True):
    """A message to the main agent, and everything that followed from it."""

    run_id: str
    number: int
    """1, 2, 3 … in its run; 0 for what came before the first message."""
    prompt: Event | None
    """The `message.user`; None in the unit with number 0."""
    events: tuple[Event, ...]
    """All of them, the prompt first, those of subagents among them."""


@dataclass(slots=True)
class _Draft:
    run_id: str
    number: int = 0
    prompt: Event | None = None
    events: list[Event] = field(default_factory=list)

    def unit(self) -> Unit:
        return Unit(run_id=self.run_id, number=self.number, prompt=self.prompt, events=tuple(self.events))


class UnitSplitter:
    """The units of runs whose events come one by one.

    `begins_unit` says where one begins. Runs may be interleaved; each has its own units.
    """

    def __init__(self) -> None:
        self._drafts: dict[str, _Draft] = {}

    def add(self, event: Event) -> Unit | None:
        """Take the next event; returns the unit that it ends, if it ends one."""
        ended = None
        draft = self._drafts.get(event.run_id)
        if draft is None:
            draft = self._drafts[event.run_id] = _Draft(event.run_id)
        if begins_unit(event):
            if draft.events:
                ended = draft.unit()
            draft = self._drafts[event.run_id] = _Draft(event.run_id, draft.number + 1, event)
        draft.events.append(event)
        return ended

    def rest(self) -> Iterator[Unit]:
        """The last unit of every run, when no more events come."""
        return (draft.unit() for draft in self._drafts.values())


def units(events: Iterable[Event]) -> Iterator[Unit]:
    """The units of one or several runs, each as soon as the next one of its run begins."""
    splitter = UnitSplitter()
    yield from (unit for event in events if (unit := splitter.add(event)) is not None)
    yield from splitter.rest()
