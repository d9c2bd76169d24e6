"""A request to OpenAI's Responses API that continues where the run ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from stenograph.export.exporter import Exporter
from stenograph.export.replay import NO_MODEL, OPTIONS, replayed
from stenograph.export.wording import (
    IMAGES,
    data_url,
    json_bytes,
    json_text,
    report_unknown_tools,
    result_text,
    text_of,
)
from stenograph.fold.conversation import AttachmentPlace
from stenograph.fold.exchange import Call, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model.block import AttachmentBlock, Block, ThinkingBlock
from stenograph.model.event import Event


def write(events: Iterable[Event], report: LossReport, *, open: str) -> Iterator[bytes]:
    """One request whose items have no ids: an item with its id would need the reasoning that came before it."""
    run = exchange(events)
    turns = replayed(run, report, open=open, thinking=_no_thinking, attachments=_attachment_reason)
    request: dict[str, Any] = {"model": run.model or NO_MODEL}
    prompt = next((turn.system_prompt for turn in turns if turn.system_prompt), None)
    if prompt is not None:
        request["instructions"] = prompt
    request["input"] = [item for turn in turns for item in _items(turn)]
    request["store"] = False
    if run.tools:
        request["tools"] = [_tool(tool) for tool in run.tools]
    else:
        report_unknown_tools(turns, report)
    yield msgspec.json.format(json_bytes(request), indent=2) + b"\n"


def _no_thinking(_block: ThinkingBlock) -> str:
    return "without its item"


def _attachment_reason(block: AttachmentBlock, place: AttachmentPlace) -> str | None:
    if place == "assistant":
        return "in an answer"
    if block.media_type not in IMAGES:
        return "type not allowed"
    return None if block.data else "without data"


def _items(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.blocks:
        yield {"type": "message", "role": turn.role, "content": _content(turn.blocks)}
    for call in turn.calls:
        yield _call(call)
    for call in turn.calls:
        kind = "custom_tool_call_output" if _is_custom(call) else "function_call_output"
        yield {"type": kind, "call_id": call.call_id, "output": _output(call)}


def _is_custom(call: Call) -> bool:
    return call.kind == "custom" and isinstance(call.input, str)


def _call(call: Call) -> dict[str, Any]:
    if _is_custom(call):
        return {"type": "custom_tool_call", "call_id": call.call_id, "name": call.name, "input": call.input}
    arguments = json_text(call.arguments)
    return {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": arguments}


def _content(blocks: tuple[Block, ...]) -> str | list[dict[str, Any]]:
    text = text_of(blocks)
    pictures = _pictures(blocks)
    return [*([{"type": "input_text", "text": text}] if text else []), *pictures] if pictures else text


def _pictures(blocks: tuple[Block, ...]) -> list[dict[str, Any]]:
    return [
        {"type": "input_image", "detail": "auto", "image_url": data_url(block)}
        for block in blocks
        if isinstance(block, AttachmentBlock)
    ]


def _output(call: Call) -> str | list[dict[str, Any]]:
    pictures = _pictures(call.blocks)
    text = result_text(call)
    return [*([{"type": "input_text", "text": text}] if text else []), *pictures] if pictures else text


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    if tool.get("kind") == "custom":
        found: dict[str, Any] = {"type": "custom", "name": tool["name"]}
    else:
        schema = tool.get("input_schema")
        parameters = schema if isinstance(schema, dict) else {"type": "object"}
        found = {"type": "function", "name": tool["name"], "parameters": parameters, "strict": False}
    return found | ({"description": tool["description"]} if tool.get("description") else {})


EXPORTER = Exporter(
    name="openai-responses",
    what="a replayable request to OpenAI's Responses API",
    suffix=".json",
    write=write,
    options=OPTIONS,
)
