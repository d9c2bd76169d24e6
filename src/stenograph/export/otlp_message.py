"""Messages as attributes of spans, by OpenTelemetry's GenAI conventions or by OpenInference's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stenograph.export.wording import data_url, json_text, result_text
from stenograph.fold.exchange import Call, Turn
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock

OtlpMessage = dict[str, Any]
_FINISH = {"tool_use": "tool_call", "tool_calls": "tool_call", "end_turn": "stop", "max_tokens": "length"}


def prompt_of(turn: Turn) -> OtlpMessage:
    """A user message."""
    return {"role": "user", "parts": [_part(block) for block in turn.blocks]}


def answer_of(turn: Turn) -> OtlpMessage:
    """An answer with its calls."""
    calls = [
        {"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": call.arguments} for call in turn.calls
    ]
    parts = [*(_part(block) for block in turn.blocks), *calls]
    return {"role": "assistant", "parts": parts, "finish_reason": finish_reason(turn)}


def response_of(call: Call) -> OtlpMessage:
    """The result of a call, as a message of the tool."""
    parts: list[dict[str, Any]] = [{"type": "tool_call_response", "id": call.call_id, "response": result_text(call)}]
    parts += [_part(block) for block in call.blocks if isinstance(block, AttachmentBlock)]
    return {"role": "tool", "parts": parts}


def finish_reason(turn: Turn) -> str:
    """Why an answer ended, in a word of the conventions, or in the agent's own word if they have none."""
    if turn.stop_reason:
        return _FINISH.get(turn.stop_reason, turn.stop_reason)
    return "tool_call" if turn.calls else "stop"


def _part(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "content": text}
        case ThinkingBlock(thinking=text, signature=signature):
            return {"type": "reasoning", "content": text} | ({"signature": signature} if signature else {})
        case AttachmentBlock(media_type=media_type, data=data):
            modality = media_type.partition("/")[0]
            known = modality if modality in ("image", "audio", "video") else "document"
            return {"type": "blob", "modality": known, "mime_type": media_type, "content": data}
    raise AssertionError(f"a {type(block).__name__} is not part of a conversation")


def flat(prefix: str, messages: list[OtlpMessage]) -> dict[str, Any]:
    """Messages as OpenInference writes them: one attribute per leaf value, lists by index."""
    return {
        f"{prefix}.{number}.message.{name}": value
        for number, message in enumerate(messages)
        for name, value in _leaves(message)
    }


def _leaves(message: OtlpMessage) -> Iterator[tuple[str, Any]]:
    yield "role", message["role"]
    contents = calls = 0
    for part in message["parts"]:
        match part["type"]:
            case "tool_call":
                place = f"tool_calls.{calls}.tool_call"
                calls += 1
                yield f"{place}.id", part["id"]
                yield f"{place}.function.name", part["name"]
                yield f"{place}.function.arguments", json_text(part["arguments"])
            case "tool_call_response":
                yield "tool_call_id", part["id"]
                yield "content", part["response"]
            case kind:
                place = f"contents.{contents}.message_content"
                contents += 1
                yield from ((f"{place}.{name}", value) for name, value in _content(kind, part))


def _content(kind: str, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if kind == "blob":
        block = AttachmentBlock(
            fidelity="agent_emitted", media_type=part["mime_type"], size=0, sha256="", data=part["content"]
        )
        yield "type", part["modality"]
        name = "image.image.url" if part["modality"] == "image" else f"{part['modality']}.{part['modality']}.url"
        yield name, data_url(block)
        return
    yield "type", kind
    yield "text", part["content"]
    if "signature" in part:
        yield "signature", part["signature"]
