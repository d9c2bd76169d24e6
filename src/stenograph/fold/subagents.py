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
    made: dict[str, tuple[str, int]] = {}
    for event in events:
        count += 1
        run_id, parent_run_id = run_id or event.run_id, parent_run_id or event.parent_run_id
        speaker = speakers.setdefault(event.source, _Speaker(event.source))
        _listen(speaker, event, count)
        if isinstance(event.payload, ToolPayload) and event.type == "tool.call":
            made.setdefault(event.payload.call_id, (event.payload.name, event.seq or count))
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
        steps=_below("main", speakers, made, frozenset(["main"])),
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
    source: str, speakers: dict[str, _Speaker], made: dict[str, tuple[str, int]], above: frozenset[str]
) -> tuple[StepNode, ...]:
    """The subagents of a source; one whose parent is unknown belongs to the main agent. `made` are the calls by id."""
    return tuple(
        StepNode(
            name=each.source,
            kind=f"by {made[each.call_id][0]}" if each.call_id in made else "subagent",
            path=each.source,
            iteration=0,
            status="completed",
            started_at=each.first,
            ended_at=each.last,
            messages=len(each.messages),
            tool_calls=len(each.calls),
            steps=_below(each.source, speakers, made, above | {each.source}),
            call_id=each.call_id,
            call_seq=made[each.call_id][1] if each.call_id in made else None,
        )
        for each in speakers.values()
        if each.source not in above and (each.parent if each.parent in speakers else "main") == source
    )
