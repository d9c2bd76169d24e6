"""The sources of a run without steps of its own: the agent and its subagents, as a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stenograph.fold.calls import CallPairs, PairState
from stenograph.fold.messages import MessageCounter
from stenograph.fold.span import SpanCounter
from stenograph.fold.status import FAILED, FINISHED, NOT_KNOWN, Life, RunStatus
from stenograph.fold.tree import RunNode, StepNode
from stenograph.model.event import Event


@dataclass(slots=True)
class _Speaker:
    """One source while its events are still coming."""

    source: str
    parent: str | None = None
    call_id: str | None = None
    times: SpanCounter = field(default_factory=SpanCounter)
    messages: int = 0
    calls: int = 0


def subagent_tree(events: Iterable[Event], life: Life = NOT_KNOWN) -> RunNode:
    """A run of an agent: its subagents are its steps, each under the one that spawned it.

    `life` is what is known of the process that writes the run.
    """
    speakers: dict[str, _Speaker] = {"main": _Speaker("main")}
    run_id, parent_run_id, count = "", None, 0
    calls: dict[str, PairState] = {}
    status, times = RunStatus(), SpanCounter()
    messages, pairs = MessageCounter(), CallPairs()
    for event in events:
        count += 1
        times.add(event)
        run_id, parent_run_id = run_id or event.run_id, parent_run_id or event.parent_run_id
        speaker = speakers.setdefault(event.source, _Speaker(event.source))
        _add_event(speaker, event)
        speaker.messages += messages.is_new(event)
        if (joined := pairs.add(event, event.seq or count)) is not None:
            speaker.calls += joined.change.calls
            calls[joined.pair.call_id] = joined.pair
        status.add(event)
    main = speakers["main"]
    verdict = status.verdict(life)
    return RunNode(
        run_id=run_id,
        parent_run_id=parent_run_id,
        name="",
        status=verdict.status,
        status_reason=verdict.reason,
        started_at=times.span.started_at or None,
        ended_at=times.span.ended_at or None,
        events=count,
        messages=main.messages,
        tool_calls=main.calls,
        steps=_below("main", speakers, calls, verdict.status),
    )


def _add_event(speaker: _Speaker, event: Event) -> None:
    speaker.times.add(event)
    if event.origin is not None:
        speaker.parent = speaker.parent or event.origin.parent_source
        speaker.call_id = speaker.call_id or event.origin.parent_call_id


def subagent_status(has_result: bool, error: str | None, run_status: str) -> str:
    """The status of a subagent: how its call ended; that of its run while the call is open or unknown."""
    if has_result:
        return FINISHED if error is None else FAILED
    return run_status


def _below(
    source: str,
    speakers: dict[str, _Speaker],
    calls: dict[str, PairState],
    status: str,
    above: frozenset[str] = frozenset(["main"]),
) -> tuple[StepNode, ...]:
    """The subagents of a source; one whose parent is unknown belongs to the main agent. `made` are the calls by id."""
    return tuple(
        StepNode(
            name=each.source,
            kind="subagent" if (call := calls.get(each.call_id or "")) is None else f"by {call.name}",
            path=each.source,
            iteration=0,
            status=status if call is None else subagent_status(call.has_result, call.error, status),
            started_at=each.times.span.started_at,
            ended_at=each.times.span.ended_at,
            messages=each.messages,
            tool_calls=each.calls,
            steps=_below(each.source, speakers, calls, status, above | {each.source}),
            call_id=each.call_id,
            call_seq=None if call is None else call.call,
        )
        for each in speakers.values()
        if each.source not in above and (each.parent if each.parent in speakers else "main") == source
    )
