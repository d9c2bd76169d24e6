"""Anthropic's Messages API: reads requests, writes recorded answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stenograph.export.wording import json_text
from stenograph.fold.exchange import Call
from stenograph.fold.usage import Usage
from stenograph.model.block import TextBlock, ThinkingBlock
from stenograph.replay.body import content_parts, dicts, part_text, text
from stenograph.replay.recording import Answer, Part
from stenograph.replay.request import Answered, Asked, Request, Returned

_PLACEHOLDER = "c3Rlbm9ncmFwaA=="
"""The signature of thinking whose own was not recorded: agents accept it, the real API would not."""


def read(body: dict[str, Any]) -> Request:
    """The content of a request."""
    items: list[Asked | Answered | Returned] = []
    for message in dicts(body.get("messages")):
        parts = content_parts(message.get("content"))
        if message.get("role") == "assistant":
            answer_text = "\n".join(text(part, "text") for part in parts if part.get("type") == "text")
            ids = tuple(text(part, "id") for part in parts if part.get("type") == "tool_use")
            items.append(Answered(text=answer_text, call_ids=ids))
        elif message.get("role") == "user":
            items += [
                Returned(call_id=text(part, "tool_use_id"), text=part_text(part.get("content")))
                for part in parts
                if part.get("type") == "tool_result"
            ]
            if texts := tuple(part_text([part]) for part in parts if part.get("type") != "tool_result"):
                items.append(Asked(texts=texts))
    return Request(
        items=tuple(items),
        model=text(body, "model"),
        is_streamed=body.get("stream") is True,
        has_tools=bool(body.get("tools")),
    )


def write(answer: Answer, request: Request) -> dict[str, Any]:
    """A recorded answer, not streamed."""
    content = [_block(part) for part in answer.parts]
    has_calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": answer.turn.message_id or "msg_steno_{}_{}".format(*answer.key),
        "type": "message",
        "role": "assistant",
        "model": request.model or answer.turn.model or "recorded",
        "content": content,
        "stop_reason": answer.turn.stop_reason or ("tool_use" if has_calls else "end_turn"),
        "stop_sequence": None,
        "usage": _usage(answer.turn.usage or Usage(output_tokens=1)),
    }


def canned(words: str, request: Request) -> dict[str, Any]:
    """An answer to a request that is not part of the recorded conversations."""
    return {
        "id": "msg_steno_aside",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [{"type": "text", "text": words}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": _usage(Usage(output_tokens=1)),
    }


def refusal(why: str) -> dict[str, Any]:
    """An error in the API's form."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": why}}


def events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An answer as a stream."""
    usage = message["usage"]
    yield {
        "type": "message_start",
        "message": {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}},
    }
    for index, block in enumerate(message["content"]):
        begun, deltas = _pieces(block)
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": usage}
    yield {"type": "message_stop"}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case TextBlock(text=words):
            return {"type": "text", "text": words}
        case ThinkingBlock(thinking="", encrypted_content=str() as data):
            return {"type": "redacted_thinking", "data": data}
        case ThinkingBlock(thinking=words, signature=signature):
            return {"type": "thinking", "thinking": words, "signature": signature or _PLACEHOLDER}
        case Call():
            return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": part.arguments}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block at its start, and the deltas that complete it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
        case "thinking":
            return {**block, "thinking": "", "signature": ""}, [
                {"type": "thinking_delta", "thinking": block["thinking"]},
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use":
            piece = {"type": "input_json_delta", "partial_json": json_text(block["input"])}
            return {**block, "input": {}}, [piece]
    return block, []


def _usage(usage: Usage) -> dict[str, Any]:
    cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens
    return {
        "input_tokens": max(0, usage.input_tokens - cached),
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "output_tokens": usage.output_tokens,
    }
