"""Units: one user message with everything up to the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msgspec import Struct

from stenograph.model.event import Event


class Unit(Struct, frozen=True, kw_only=True):
    """What somebody asked of a run, and all that followed from it."""

    run_id: str
    number: int
    """1, 2, 3 … in its run; 0 for what came before anybody spoke."""
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


def units(events: Iterable[Event]) -> Iterator[Unit]:
    """The units of one or several runs, each as soon as the next one of its run begins.

    Only what is said to `main` begins a unit: a subagent's prompt is part of the unit that spawned it. Runs may be
    interleaved; each has its own units.
    """
    drafts: dict[str, _Draft] = {}
    for event in events:
        draft = drafts.get(event.run_id)
        if draft is None:
            draft = drafts[event.run_id] = _Draft(event.run_id)
        if event.type == "message.user" and event.source == "main":
            if draft.events:
                yield draft.unit()
            draft = drafts[event.run_id] = _Draft(event.run_id, draft.number + 1, event)
        draft.events.append(event)
    for draft in drafts.values():
        yield draft.unit()
