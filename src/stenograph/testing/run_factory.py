"""Runs for tests, described in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from msgspec import Struct

from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.event import Event, Origin
from stenograph.model.payload import LifecyclePayload, MessagePayload, ToolPayload, UsagePayload

_NAMESPACE = UUID("6a3d4a5e-0f53-5c9b-9b1e-2a6f3c1d7e90")
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class ToolUse(Struct, frozen=True, kw_only=True):
    """A call of a tool with its result."""

    name: str
    input: Any
    output: Any
    error: str | None
    call_id: str | None


class Answer(Struct, frozen=True, kw_only=True):
    """An answer of the model."""

    text: str
    calls: tuple[ToolUse, ...]
    thinking: str


def call(
    name: str, input: Any = None, output: Any = "", *, error: str | None = None, call_id: str | None = None
) -> ToolUse:
    """A call of a tool with its result; `output=None` leaves it open. Ids are made where none is given."""
    return ToolUse(name=name, input={} if input is None else input, output=output, error=error, call_id=call_id)


def answer(text: str = "", *calls: ToolUse, thinking: str = "") -> Answer:
    """What the model says, and the tools that it calls."""
    return Answer(text=text, calls=calls, thinking=thinking)


def make_run(
    *items: str | Answer,
    run_id: str | None = None,
    parent_run_id: str | None = None,
    source: str = "main",
    adapter: str = "exchange",
    model: str = "test-model",
    cwd: str | None = None,
) -> list[Event]:
    """The events of a run, given its messages: a text is a prompt, an `answer` is the model's.

    The same arguments give equal events: ids and times are derived, a second for each event.
    """
    run_id = run_id or str(uuid5(_NAMESPACE, repr((items, source, adapter))))
    origin = Origin(adapter=adapter, source=None if source == "main" else source)
    return [
        Event(
            seq=seq,
            run_id=run_id,
            parent_run_id=parent_run_id,
            type=kind,
            path="",
            iteration=0,
            timestamp=(_BEGIN + timedelta(seconds=seq)).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            origin=origin,
            payload=payload,
        )
        for seq, (kind, payload) in enumerate(_payloads(items, run_id, model, cwd), 1)
    ]


def _payloads(
    items: Iterable[str | Answer], run_id: str, model: str, cwd: str | None
) -> Iterator[tuple[str, LifecyclePayload | MessagePayload | ToolPayload | UsagePayload]]:
    yield "run.started", LifecyclePayload(name="test", kind="agent", cwd=cwd)
    number = calls = 0
    for item in items:
        if isinstance(item, str):
            text = TextBlock(fidelity="agent_emitted", text=item)
            yield "message.user", MessagePayload(role="user", blocks=(text,))
            continue
        number += 1
        made = [each.call_id or f"call_{run_id[:8]}_{calls + place}" for place, each in enumerate(item.calls, 1)]
        calls += len(item.calls)
        yield "message.assistant", _message(item, made, model, f"msg_{run_id[:8]}_{number}")
        for call_id, each in zip(made, item.calls, strict=True):
            yield (
                "tool.call",
                ToolPayload(name=each.name, call_id=call_id, input=each.input, output=None, fidelity="agent_emitted"),
            )
        for call_id, each in zip(made, item.calls, strict=True):
            if each.output is not None:
                yield "tool.result", _result(each, call_id)
        yield (
            "token.usage",
            UsagePayload(
                scope="call",
                input_tokens=10,
                output_tokens=5,
                model=model,
                message_id=f"msg_{run_id[:8]}_{number}",
            ),
        )
    yield "run.completed", LifecyclePayload(name="test", kind="agent")


def _message(item: Answer, ids: list[str], model: str, message_id: str) -> MessagePayload:
    blocks: list[Block] = []
    if item.thinking:
        blocks.append(ThinkingBlock(fidelity="agent_emitted", thinking=item.thinking))
    if item.text:
        blocks.append(TextBlock(fidelity="agent_emitted", text=item.text))
    blocks += [
        ToolUseBlock(fidelity="agent_emitted", tool_name=each.name, tool_id=call_id, tool_input=each.input)
        for call_id, each in zip(ids, item.calls, strict=True)
    ]
    stop = "tool_use" if ids else "end_turn"
    return MessagePayload(role="assistant", blocks=tuple(blocks), model=model, message_id=message_id, stop_reason=stop)


def _result(use: ToolUse, call_id: str) -> ToolPayload:
    return ToolPayload(
        name=use.name, call_id=call_id, input=None, output=use.output, error=use.error, fidelity="agent_emitted"
    )
