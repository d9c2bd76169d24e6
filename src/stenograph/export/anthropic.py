"""A request to Anthropic's Messages API that continues where the run ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.export.exporter import Exporter
from stenograph.export.replay import NO_MODEL, OPTIONS, replayed
from stenograph.export.wording import IMAGES, definitions_for, json_bytes, result_text
from stenograph.fold.conversation import AttachmentPlace
from stenograph.fold.exchange import Call, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock
from stenograph.model.event import Event

MAX_TOKENS = 8192
"""A placeholder: the API requires the field, and runs do not record it."""
_NOT_IN_IDS = re.compile("[^a-zA-Z0-9_-]")


def write(events: Iterable[Event], report: LossReport, *, open: str) -> Iterator[bytes]:
    """One request. Every call is answered in the message after it; thinking stays where its signature does."""
    run = exchange(events)
    is_claude = (run.model or "").startswith("claude")

    def thinking(block: ThinkingBlock) -> str | None:
        if not is_claude:
            return "of another provider"
        return None if block.signature and block.thinking else "without a signature"

    turns = replayed(
        run,
        report,
        open=open,
        thinking=thinking,
        attachments=_attachment_reason,
        error_flags=True,
        starts_with_user=True,
    )
    turns = _with_fit_ids(turns, report)
    request: dict[str, Any] = {"model": run.model or NO_MODEL, "max_tokens": MAX_TOKENS}
    prompt = next((turn.system_prompt for turn in turns if turn.system_prompt), None)
    if prompt is not None:
        request["system"] = prompt
    request["messages"] = _ended(_merged(turns))
    tools = definitions_for(run, turns, report)
    if tools:
        request["tools"] = [_tool(tool) for tool in tools]
    yield msgspec.json.format(json_bytes(request), indent=2) + b"\n"


def _attachment_reason(block: AttachmentBlock, place: AttachmentPlace) -> str | None:
    if place == "assistant":
        return "in an answer"
    if block.media_type not in IMAGES and block.media_type != "application/pdf":
        return "type not allowed"
    return None if block.data else "without data"


def _with_fit_ids(turns: list[Turn], report: LossReport) -> list[Turn]:
    """The messages with call ids in the characters that the API accepts, still unique."""
    taken = {call.call_id for turn in turns for call in turn.calls}

    def fit(call: Call) -> Call:
        wanted = _NOT_IN_IDS.sub("_", call.call_id)
        if wanted == call.call_id:
            return call
        unique, number = wanted, 1
        while unique in taken:
            number += 1
            unique = f"{wanted}_{number}"
        taken.add(unique)
        report.change("call ids", call.seq)
        return replace(call, call_id=unique)

    return [replace(turn, calls=tuple(fit(call) for call in turn.calls)) for turn in turns]


def _merged(turns: list[Turn]) -> list[dict[str, Any]]:
    """Messages with alternating roles; results of calls come first in the user message after them."""
    messages: list[dict[str, Any]] = []

    def add(role: str, content: list[dict[str, Any]]) -> None:
        if not content:
            return
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += content
        else:
            messages.append({"role": role, "content": content})

    for turn in turns:
        content = [_block(block) for block in turn.blocks]
        content += [
            {"type": "tool_use", "id": call.call_id, "name": call.name, "input": call.arguments} for call in turn.calls
        ]
        add(turn.role, content)
        add("user", [_result(call) for call in turn.calls])
    return messages


def _ended(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages without spaces at the end of a last answer, which the API refuses."""
    if messages and messages[-1]["role"] == "assistant":
        last = messages[-1]["content"][-1]
        if last["type"] == "text":
            last["text"] = last["text"].rstrip()
    return messages


def _block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ThinkingBlock(thinking=text, signature=signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case AttachmentBlock():
            return _media(block)
    raise AssertionError(f"a {type(block).__name__} is not part of a conversation")


def _media(block: AttachmentBlock) -> dict[str, Any]:
    kind = "image" if block.media_type in IMAGES else "document"
    return {"type": kind, "source": {"type": "base64", "media_type": block.media_type, "data": block.data}}


def _result(call: Call) -> dict[str, Any]:
    media = [_media(block) for block in call.blocks if isinstance(block, AttachmentBlock)]
    text = result_text(call)
    content: Any = text
    if media:
        content = [*([{"type": "text", "text": text}] if text.strip() else []), *media]
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.call_id, "content": content}
    if call.error is not None:
        result["is_error"] = True
    return result


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    schema = tool.get("input_schema")
    found = {"name": tool["name"], "input_schema": schema if isinstance(schema, dict) else {"type": "object"}}
    return found | ({"description": tool["description"]} if tool.get("description") else {})


EXPORTER = Exporter(
    name="anthropic",
    what="a replayable request to Anthropic's Messages API",
    suffix=".json",
    write=write,
    options=OPTIONS,
)
