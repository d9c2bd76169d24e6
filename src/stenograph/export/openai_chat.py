"""A request to OpenAI's Chat Completions API, and compatible ones, that continues where the run ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from stenograph.export.exporter import Exporter
from stenograph.export.replay import NO_MODEL, OPTIONS, replayed
from stenograph.export.wording import (
    IMAGES,
    data_url,
    function_tools,
    json_bytes,
    json_text,
    report_unknown_tools,
    result_text,
    text_of,
)
from stenograph.fold.conversation import AttachmentPlace
from stenograph.fold.exchange import Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock, Block, ThinkingBlock
from stenograph.model.event import Event


def write(events: Iterable[Event], report: LossReport, *, open: str) -> Iterator[bytes]:
    """One request. Each call is answered by its own message, directly after the message with the call."""
    run = exchange(events)
    turns = replayed(run, report, open=open, thinking=_no_thinking, attachments=_attachment_reason)
    request: dict[str, Any] = {"model": run.model or NO_MODEL}
    request["messages"] = [message for turn in turns for message in _messages(turn)]
    if tools := function_tools(run):
        request["tools"] = tools
    else:
        report_unknown_tools(turns, report)
    yield msgspec.json.format(json_bytes(request), indent=2) + b"\n"


def _no_thinking(_block: ThinkingBlock) -> str:
    return "no place"


def _attachment_reason(block: AttachmentBlock, place: AttachmentPlace) -> str | None:
    if place != "user":
        return "not in a user message"
    if block.media_type not in IMAGES:
        return "type not allowed"
    return None if block.data else "without data"


def _messages(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.system_prompt is not None:
        yield {"role": "system", "content": turn.system_prompt}
    if turn.role == "user":
        if turn.blocks:
            yield {"role": "user", "content": _content(turn.blocks)}
        return
    said: dict[str, Any] = {"role": "assistant", "content": text_of(turn.blocks)}
    if turn.calls:
        said["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json_text(call.arguments)},
            }
            for call in turn.calls
        ]
    yield said
    for call in turn.calls:
        yield {"role": "tool", "tool_call_id": call.call_id, "content": result_text(call)}


def _content(blocks: tuple[Block, ...]) -> str | list[dict[str, Any]]:
    pictures = [block for block in blocks if isinstance(block, AttachmentBlock)]
    text = text_of(blocks)
    if not pictures:
        return text
    parts = [{"type": "text", "text": text}] if text else []
    return [*parts, *({"type": "image_url", "image_url": {"url": data_url(block)}} for block in pictures)]


EXPORTER = Exporter(
    name="openai-chat",
    what="a replayable request to OpenAI's Chat Completions API",
    suffix=".json",
    write=write,
    options=OPTIONS,
)
