"""AG-UI: a run as the events that chat interfaces show, one JSON object per line, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stenograph.export.exporter import Exporter
from stenograph.export.usage_names import GENAI, named
from stenograph.export.wording import json_line, json_text, milliseconds, result_text
from stenograph.fold.conversation import ChatRules, account_for_run, conversation, drop_part
from stenograph.fold.exchange import Call, Exchange, Notice, Thread, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model import mend
from stenograph.model.block import TextBlock, ThinkingBlock
from stenograph.model.event import Event

_NOTICES = frozenset({"system events", "errors", "lifecycle events", "unknown events", "results"})
RULES = ChatRules(
    thinking=lambda block: None if block.thinking or block.signature or block.encrypted_content else "empty",
    attachments=lambda _block, _place: "no place for it",
    notices=_NOTICES,
    usage=True,
    every_system_prompt=True,
)


def write(events: Iterable[Event], report: LossReport, *, subagents: str) -> Iterator[bytes]:
    """One run in one stream: the main agent's events, and those of subagents by their `subagentRunId`."""
    run = exchange(events)
    account_for_run(run, report)
    stream = _Stream(run, report)
    yield from map(json_line, stream.events(with_subagents=subagents == "embed"))


class _Stream:
    def __init__(self, run: Exchange, report: LossReport) -> None:
        self._run = run
        self._report = report
        self._at = 0

    def events(self, *, with_subagents: bool) -> Iterator[dict[str, Any]]:
        """From `RUN_STARTED` to `RUN_FINISHED`: interfaces ignore what follows any other end."""
        ids = {"threadId": self._run.session_id or self._run.run_id, "runId": self._run.run_id}
        parent = {"parentRunId": self._run.parent_run_id} if self._run.parent_run_id else {}
        times = [milliseconds(item.at) for thread in self._run.threads for item in thread.items if item.at is not None]
        self._at = min(times, default=0)
        yield self._event("RUN_STARTED", **ids, **parent)
        yield from self._thread(self._run.main)
        for thread in self._run.subagents:
            if not with_subagents:
                self._report.drop("subagents", thread.items[0].seq if thread.items else 0)
                drop_part(thread.items, self._report, "of a subagent")
                continue
            self._report.carry("subagents")
            yield from self._subagent(thread)
        self._at = max(times, default=0)
        yield self._event("RUN_FINISHED", **ids, outcome={"type": "success"})

    def _subagent(self, thread: Thread) -> Iterator[dict[str, Any]]:
        begun: dict[str, Any] = {"subagentRunId": thread.source, "name": thread.source}
        if thread.parent_call_id:
            begun["parentToolCallId"] = thread.parent_call_id
        if thread.parent_source not in (None, "main", thread.source):
            begun["parentSubagentRunId"] = thread.parent_source
        yield self._event("SUBAGENT_STARTED", **begun)
        for event in self._thread(thread):
            yield event | {"subagentRunId": thread.source}
        yield self._event("SUBAGENT_FINISHED", subagentRunId=thread.source)

    def _thread(self, thread: Thread) -> Iterator[dict[str, Any]]:
        for item in conversation(thread.items, self._report, RULES):
            self._at = milliseconds(item.at) or self._at
            if isinstance(item, Notice):
                value = mend.plain(item.event.payload)
                yield self._event("CUSTOM", name=f"stenograph.{item.event.type}", value=value)
            else:
                yield from self._turn(item)

    def _turn(self, turn: Turn) -> Iterator[dict[str, Any]]:
        own = turn.message_id or f"message_{turn.seq}"
        if turn.system_prompt is not None:
            yield from self._text(f"{own}_system", "system", turn.system_prompt)
        for number, block in enumerate(turn.blocks):
            name = own if not number else f"{own}_{number}"
            if isinstance(block, TextBlock):
                yield from self._text(name, turn.role, block.text)
            elif isinstance(block, ThinkingBlock):
                yield from self._thinking(f"{name}_reasoning", block)
        for call in turn.calls:
            yield from self._call(call, own)
        if turn.usage is not None:
            yield self._event("CUSTOM", name="stenograph.token.usage", value=named(turn.usage, GENAI))

    def _text(self, name: str, role: str, text: str) -> Iterator[dict[str, Any]]:
        yield self._event("TEXT_MESSAGE_START", messageId=name, role=role)
        yield self._event("TEXT_MESSAGE_CONTENT", messageId=name, delta=text)
        yield self._event("TEXT_MESSAGE_END", messageId=name)

    def _thinking(self, name: str, block: ThinkingBlock) -> Iterator[dict[str, Any]]:
        yield self._event("REASONING_START", messageId=name)
        if block.thinking:
            yield self._event("REASONING_MESSAGE_START", messageId=name, role="reasoning")
            yield self._event("REASONING_MESSAGE_CONTENT", messageId=name, delta=block.thinking)
            yield self._event("REASONING_MESSAGE_END", messageId=name)
        if secret := block.signature or block.encrypted_content:
            yield self._event("REASONING_ENCRYPTED_VALUE", subtype="message", entityId=name, encryptedValue=secret)
        yield self._event("REASONING_END", messageId=name)

    def _call(self, call: Call, parent: str) -> Iterator[dict[str, Any]]:
        self._at = milliseconds(call.at) or self._at
        ids = {"toolCallId": call.call_id}
        yield self._event("TOOL_CALL_START", **ids, toolCallName=call.name, parentMessageId=parent)
        yield self._event("TOOL_CALL_ARGS", **ids, delta=json_text(call.arguments))
        yield self._event("TOOL_CALL_END", **ids)
        if call.has_result:
            self._at = milliseconds(call.answered_at) or self._at
            failed = {"metadata": {"error": call.error}} if call.error is not None else {}
            name = f"{call.call_id}_result"
            content = result_text(call)
            yield self._event("TOOL_CALL_RESULT", messageId=name, **ids, content=content, role="tool", **failed)

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        return {"type": kind, **({"timestamp": self._at} if self._at else {}), **fields}


EXPORTER = Exporter(
    name="agui",
    what="events for chat interfaces that speak AG-UI (JSONL)",
    version="1.0",
    suffix=".agui.jsonl",
    write=write,
    options={"subagents": ("embed", "drop")},
)
