"""Payloads as text that a person reads."""

from __future__ import annotations

from collections.abc import Iterable
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
    """A string as it is, nothing as nothing, anything else as indented JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else indented(value)


def block_text(block: Block) -> str:
    """What a block reads like."""
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
    """What a payload other than a message reads like."""
    match payload:
        case LifecyclePayload(name=name, error=None):
            return name
        case LifecyclePayload(name=name, error=error):
            return f"{name}: {error}"
        case ToolPayload(output=None, blocks=blocks) if blocks:
            return blocks_text(blocks)
        case ToolPayload(output=output):
            return as_text(output)
        case SystemPayload(text=None, data=None, subtype=subtype):
            return subtype
        case SystemPayload(text=None, data=data):
            return indented(data)
        case SystemPayload(text=str(text)):
            return text
        case UsagePayload(input_tokens=into, output_tokens=out):
            return f"{into} in, {out} out"
        case ErrorPayload(message=message):
            return message
        case UnknownPayload(value=value, text=text):
            return indented(value) if text is None and value is not UNSET else text or ""
        case _:
            return as_text(payload)
