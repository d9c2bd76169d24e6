"""Who spoke in a run that has no steps of its own: the agent and its subagents, as a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stenograph.fold.tree import RunNode, StepNode
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, ToolPayload


@dataclass(slots=True)
class _Speaker:
    """One source while its events are still coming."""

    source: str
    parent: str | None = None
    call_id: str | None = None
    first: str = ""
    last: str = ""
    messages: set[str | int] = field(default_factory=set)
    calls: set[str] = field(default_factory=set)


def subagent_tree(events: Iterable[Event]) -> RunNode:
    """A run of an agent: its subagents are its steps, each under the one that spawned it."""
    speakers: dict[str, _Speaker] = {"main": _Speaker("main")}
    run_id, parent_run_id, count = "", None, 0
    names: dict[str, str] = {}
    for event in events:
        count += 1
        run_id, parent_run_id = run_id or event.run_id, parent_run_id or event.parent_run_id
        speaker = speakers.setdefault(event.source, _Speaker(event.source))
        _listen(speaker, event, count)
        if isinstance(event.payload, ToolPayload) and event.type == "tool.call":
            names[event.payload.call_id] = event.payload.name
    main = speakers["main"]
    return RunNode(
        run_id=run_id,
        parent_run_id=parent_run_id,
        name="",
        status="completed",
        started_at=main.first or None,
        ended_at=main.last or None,
        events=count,
        messages=len(main.messages),
        tool_calls=len(main.calls),
        steps=_below("main", speakers, names, frozenset(["main"])),
    )


def _listen(speaker: _Speaker, event: Event, number: int) -> None:
    speaker.first = speaker.first or event.timestamp
    speaker.last = event.timestamp
    if event.origin is not None:
        speaker.parent = speaker.parent or event.origin.parent_source
        speaker.call_id = speaker.call_id or event.origin.parent_call_id
    if isinstance(event.payload, MessagePayload):
        speaker.messages.add(event.payload.message_id or number)
    elif isinstance(event.payload, ToolPayload) and event.type == "tool.call":
        speaker.calls.add(event.payload.call_id)


def _below(
    source: str, speakers: dict[str, _Speaker], names: dict[str, str], above: frozenset[str]
) -> tuple[StepNode, ...]:
    """The subagents of a source; one whose parent nobody knows belongs to the main agent."""
    return tuple(
        StepNode(
            name=each.source,
            kind=f"by {names[each.call_id]}" if each.call_id in names else "subagent",
            path=each.source,
            iteration=0,
            status="completed",
            started_at=each.first,
            ended_at=each.last,
            messages=len(each.messages),
            tool_calls=len(each.calls),
            steps=_below(each.source, speakers, names, above | {each.source}),
        )
        for each in speakers.values()
        if each.source not in above and (each.parent if each.parent in speakers else "main") == source
    )
