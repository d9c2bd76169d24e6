"""Content of Inspect's messages as blocks, and the texts that a log stores separately."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str
from stenograph.formats.shared.model_api.media import attachment, from_url
from stenograph.formats.shared.model_api.parts import FIDELITY, text_block
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, ThinkingBlock

_APART = "attachment://"
_MEDIA = {"image": "image", "audio": "audio", "video": "video", "document": "document"}


def resolved(value: Any, attachments: dict[str, Any]) -> Any:
    """A value in which references to `attachments` are replaced by their texts."""
    if not attachments:
        return value
    if isinstance(value, str):
        found = attachments.get(value[len(_APART) :]) if value.startswith(_APART) else None
        return found if isinstance(found, str) else value
    if isinstance(value, list):
        return [resolved(each, attachments) for each in value]
    if isinstance(value, dict):
        return {name: resolved(each, attachments) for name, each in value.items()}
    return value


def blocks_of(content: Any) -> list[Block]:
    """The blocks of a message's content; calls that the provider made itself are kept unchanged."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    return [_block(part) for part in a_list(content)]


def _block(part: Any) -> Block:
    kind = a_dict(part).get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        return text_block(part["text"])
    if kind == "reasoning" and isinstance(part.get("reasoning"), str):
        return _reasoning(part)
    if isinstance(kind, str) and kind in _MEDIA:
        return _media(part, a_str(part.get(_MEDIA[kind]))) or verbatim(part)
    return verbatim(part)


def _reasoning(part: dict[str, Any]) -> ThinkingBlock:
    """Reasoning; if redacted, its text is only for the provider, and a summary is all that can be read."""
    is_redacted = part.get("redacted") is True
    return ThinkingBlock(
        fidelity=FIDELITY,
        thinking=a_str(part.get("summary")) if is_redacted else part["reasoning"],
        signature=first_str(part, "signature"),
        encrypted_content=part["reasoning"] or None if is_redacted else None,
    )


def _media(part: dict[str, Any], data: str) -> Block | None:
    if data.startswith("data:"):
        return from_url(data)
    kind = a_str(part.get("format"))
    return attachment(f"{part['type']}/{kind}", data) if kind and "/" not in data[:64] and ":" not in data else None


def part_of_result(part: Any) -> Any:
    """A part of a tool's result in the common form of content."""
    kind = a_dict(part).get("type")
    data = part.get(_MEDIA[kind]) if isinstance(kind, str) and kind in _MEDIA else None
    is_data = isinstance(data, str) and data.startswith("data:")
    return {"type": "image_url", "image_url": {"url": data}} if is_data else part
