"""Content of messages as most agents write it, a string or typed parts, as blocks and as texts."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from stenograph.formats.shared.attachment import attachment
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, TextBlock, ThinkingBlock, UnknownBlock
from stenograph.model.payload import MessagePayload

_TEXT_PARTS = {"input_text", "output_text", "text", "inputText"}
_THINKING_PARTS = {"reasoning", "reasoning_text", "summary_text"}


def blocks_of(content: Any) -> tuple[Block, ...]:
    """The blocks of a message's content: a list of parts, or a plain string in old files."""
    if isinstance(content, str):
        return (TextBlock(fidelity="agent_emitted", text=content),)
    return tuple(_block_of(part) for part in content) if isinstance(content, list) else ()


def seen_by_us(message: MessagePayload) -> MessagePayload:
    """A message that we sent ourselves: its blocks have the fidelity `router`, not `agent_emitted`."""
    blocks = (
        block if isinstance(block, UnknownBlock) else replace(block, fidelity="router") for block in message.blocks
    )
    return replace(message, blocks=tuple(blocks))


def _block_of(part: Any) -> Block:
    if not isinstance(part, dict):
        return verbatim(part)
    kind, text = part.get("type"), part.get("text")
    if isinstance(text, str) and isinstance(kind, str):
        if kind in _TEXT_PARTS:
            return TextBlock(fidelity="agent_emitted", text=text)
        if kind in _THINKING_PARTS:
            return ThinkingBlock(fidelity="agent_emitted", thinking=text)
    if kind == "encrypted_content" and _is_readable(part.get("encrypted_content")):
        return TextBlock(fidelity="agent_emitted", text=part["encrypted_content"])
    return _media(part) or verbatim(part)


def _is_readable(text: Any) -> bool:
    """Whether a message between agents is plain text: ciphertext has no blanks, and some providers do not encrypt."""
    return isinstance(text, str) and any(character.isspace() for character in text)


def _media(part: dict[str, Any]) -> Block | None:
    """An image or sound inside the part itself, as a data URL or as MCP writes it."""
    for key in ("image_url", "imageUrl", "audio_url", "file_data"):
        url = part.get(key)
        if isinstance(url, dict):
            url = url.get("url")
        if isinstance(url, str) and url.startswith("data:"):
            head, _, data = url[5:].partition(",")
            return attachment(head.partition(";")[0], data)
    if isinstance(part.get("data"), str):
        return attachment(part.get("mimeType") or part.get("mime_type"), part["data"])
    return None


def text_of_part(part: Any) -> str | None:
    """The text of one content part, if it has any."""
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else None


def texts_of(content: Any) -> list[str]:
    """The texts of a message's content, in order."""
    if isinstance(content, str):
        return [content]
    return [text for text in map(text_of_part, content) if text is not None] if isinstance(content, list) else []
