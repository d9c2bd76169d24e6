"""Pi's session format, which Hugging Face's trace viewer and `datasets` read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from stenograph.export.exporter import Exporter, Piece, SideFile
from stenograph.export.usage_names import PI, named
from stenograph.export.wording import IMAGES, json_line, milliseconds, result_text
from stenograph.fold.conversation import (
    AttachmentPlace,
    ChatRules,
    account_for_run,
    conversation,
    drop_part,
    is_compaction,
)
from stenograph.fold.exchange import Call, Exchange, Notice, Thread, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.fold.usage import Usage
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock
from stenograph.model.event import Event
from stenograph.model.payload import SystemPayload

_STOPS = {"tool_use": "toolUse", "tool_calls": "toolUse", "max_tokens": "length", "length": "length"}
_PROVIDERS = (("claude", "anthropic"), ("gpt", "openai"), ("o1", "openai"), ("o3", "openai"), ("gemini", "google"))
NO_TIME = "1970-01-01T00:00:00.000Z"


def write(events: Iterable[Event], report: LossReport, *, subagents: str) -> Iterator[Piece]:
    """One session; subagents are left out, or are sessions in files beside it."""
    run = exchange(events)
    account_for_run(run, report)
    for thread in run.subagents:
        if subagents == "drop":
            report.drop("subagents", thread.items[0].seq if thread.items else 0)
            drop_part(thread.items, report, "of a subagent")
            continue
        report.carry("subagents")
        name = f"{run.run_id}.{re.sub('[^A-Za-z0-9_.-]+', '-', thread.source)}.jsonl"
        yield SideFile(name, b"".join(_lines(run, thread, report)))
    yield from _lines(run, run.main, report)


def _lines(run: Exchange, thread: Thread, report: LossReport) -> Iterator[bytes]:
    items = conversation(_with_compactions(thread.items, report), report, RULES)
    first = next((item.at for item in items if item.at is not None), None)
    session_id = run.run_id if thread is run.main else f"{run.run_id}/{thread.source}"
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": first or NO_TIME, "cwd": ""}
    yield json_line(header | {"harness": "stenograph"})
    parent: str | None = None
    number = 0
    at = first or NO_TIME
    for item in items:
        at = item.at or at
        for line in _entries(item, at):
            number += 1
            own = f"{number:08x}"
            yield json_line({"type": line.pop("type"), "id": own, "parentId": parent, "timestamp": at} | line)
            parent = own


def _with_compactions(items: Iterable[Turn | Notice], report: LossReport) -> Iterator[Turn | Notice]:
    """The items without those system events that the format has no place for: all but compactions."""
    for item in items:
        if isinstance(item, Notice) and item.event.type == "system.event" and not is_compaction(item):
            report.drop("system events", item.seq)
        else:
            yield item


def _attachment_reason(block: AttachmentBlock, place: AttachmentPlace) -> str | None:
    if place == "assistant":
        return "in an answer"
    if block.media_type not in IMAGES:
        return "type not allowed"
    return None if block.data else "without data"


RULES = ChatRules(
    thinking=lambda block: None if block.thinking else "encrypted",
    attachments=_attachment_reason,
    notices=frozenset({"system events"}),
    usage=True,
    every_system_prompt=True,
)


def _entries(item: Turn | Notice, at: str) -> Iterator[dict[str, Any]]:
    stamp = milliseconds(at)
    if isinstance(item, Notice):
        payload = item.event.payload
        text = payload.text if isinstance(payload, SystemPayload) else None
        yield {"type": "compaction", "summary": text or "", "tokensBefore": 0}
        return
    if item.system_prompt is not None:
        yield _message({"role": "system", "content": item.system_prompt}, stamp)
    if item.role == "user":
        if item.blocks or item.system_prompt is None:
            yield _message({"role": "user", "content": [_part(block) for block in item.blocks]}, stamp)
        return
    yield _message(_answer(item), stamp)
    for call in item.calls:
        if call.has_result:
            yield _message(_result(call), milliseconds(call.answered_at) or stamp)


def _message(message: dict[str, Any], stamp: int) -> dict[str, Any]:
    return {"type": "message", "message": message | {"timestamp": stamp}}


def _answer(turn: Turn) -> dict[str, Any]:
    calls = [
        {"type": "toolCall", "id": call.call_id, "name": call.name, "arguments": call.arguments} for call in turn.calls
    ]
    model = turn.model or "unknown"
    provider = next((name for start, name in _PROVIDERS if model.startswith(start)), "unknown")
    costs = sum(each.cost_usd or 0.0 for each in turn.usages)
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": costs}
    return {
        "role": "assistant",
        "content": [*(_part(block) for block in turn.blocks), *calls],
        "api": "unknown",
        "provider": provider,
        "model": model,
        "usage": named(turn.usage or Usage(), PI, zeros=True) | {"cost": cost},
        "stopReason": _STOPS.get(turn.stop_reason or "", "toolUse" if calls and not turn.stop_reason else "stop"),
    }


def _result(call: Call) -> dict[str, Any]:
    pictures = [block for block in call.blocks if isinstance(block, AttachmentBlock)]
    return {
        "role": "toolResult",
        "toolCallId": call.call_id,
        "toolName": call.name,
        "content": [{"type": "text", "text": result_text(call)}, *(_part(block) for block in pictures)],
        "isError": call.error is not None,
    }


def _part(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ThinkingBlock(thinking=text, signature=signature):
            part = {"type": "thinking", "thinking": text}
            return part | ({"thinkingSignature": signature} if signature else {})
        case AttachmentBlock():
            return {"type": "image", "data": block.data, "mimeType": block.media_type}
    raise AssertionError(f"a {type(block).__name__} is not part of a conversation")


EXPORTER = Exporter(
    name="pi",
    what="a session in Pi's form (JSONL): Hugging Face trace viewer, datasets",
    version="3",
    suffix=".jsonl",
    write=write,
    options={"subagents": ("drop", "files")},
)
