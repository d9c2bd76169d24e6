"""Payloads as text that a person reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from stenograph.model import mend
from stenograph.model.block import (
    AttachmentBlock,
    Block,
    CommandBlock,
    StreamBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
)
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    SystemPayload,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)


def indented(value: Any) -> str:
    """Any JSON value as indented JSON."""
    try:
        try:
            line = msgspec.json.encode(mend.plain(value))
        except UnicodeEncodeError:
            line = msgspec.json.encode(mend.scrub(mend.plain(value))[0])
        return msgspec.json.format(line, indent=2).decode()
    except RecursionError:
        return "[nested too deeply to show]"


def as_text(value: Any) -> str:
    """A string as it is, None as the empty string, anything else as indented JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else indented(value)


def block_text(block: Block) -> str:
    """A block as text."""
    match block:
        case TextBlock(text=text) | StreamBlock(text=text):
            return text
        case ThinkingBlock(thinking=text) | CommandBlock(command=text):
            return text
        case AttachmentBlock(media_type=media_type, size=size):
            return f"[{media_type}, {size} bytes]"
        case ToolResultBlock(tool_content=content):
            return as_text(content)
        case _:
            return indented(block)


def blocks_text(blocks: Iterable[Block]) -> str:
    """Blocks, one below the other."""
    return "\n".join(block_text(block) for block in blocks)


def payload_text(payload: object) -> str:
    """A payload other than a message, as text."""
    reading = _READINGS.get(payload.__class__)
    return as_text(payload) if reading is None else reading(payload)


def _lifecycle_text(payload: LifecyclePayload) -> str:
    return payload.name if payload.error is None else f"{payload.name}: {payload.error}"


def _tool_text(payload: ToolPayload) -> str:
    return blocks_text(payload.blocks) if payload.output is None and payload.blocks else as_text(payload.output)


def _system_text(payload: SystemPayload) -> str:
    if payload.text is not None:
        return payload.text
    return payload.subtype if payload.data is None else indented(payload.data)


def _usage_text(payload: UsagePayload) -> str:
    return f"{payload.input_tokens} in, {payload.output_tokens} out"


def _error_text(payload: ErrorPayload) -> str:
    return payload.message


def _unknown_text(payload: UnknownPayload) -> str:
    return indented(payload.value) if payload.text is None and payload.value is not UNSET else payload.text or ""


_READINGS: dict[type[Any], Callable[[Any], str]] = {
    LifecyclePayload: _lifecycle_text,
    ToolPayload: _tool_text,
    SystemPayload: _system_text,
    UsagePayload: _usage_text,
    ErrorPayload: _error_text,
    UnknownPayload: _unknown_text,
}
