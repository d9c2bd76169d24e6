"""The parts of a message's content, in any of the three dialects, as blocks."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.media import attachment_of
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import AttachmentBlock, Block, Fidelity, TextBlock, ThinkingBlock

FIDELITY: Fidelity = "agent_emitted"
"""Everything in these formats is what the caller or the model wrote; we did not see a tool run."""

_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_THOUGHTS = {
    "thinking", "think", "reasoning", "redacted_thinking", "reasoning.text", "reasoning.summary", "reasoning.encrypted",
}  # fmt: skip


def text_block(text: str) -> TextBlock:
    """Text."""
    return TextBlock(fidelity=FIDELITY, text=text)


def thinking_block(text: str, part: dict[str, Any] | None = None) -> ThinkingBlock:
    """Reasoning that was shown, with the fields of its part that are only for the provider."""
    part = part or {}
    return ThinkingBlock(
        fidelity=FIDELITY,
        thinking=text,
        signature=first_str(part, "signature"),
        id=first_str(part, "id"),
        encrypted_content=first_str(part, "encrypted_content", "encrypted", "data"),
    )


def blocks_of(content: Any) -> list[Block]:
    """A message's content, a string or parts, as blocks in order; empty texts are left out."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    if isinstance(content, dict):
        content = [content]
    found = (block_of(part) for part in a_list(content))
    return [block for block in found if block is not None]


def block_of(part: Any) -> Block | None:
    """One part of a content as a block; None for an empty text."""
    if isinstance(part, str):
        return text_block(part) if part else None
    if not isinstance(part, dict):
        return verbatim(part)
    kind = part.get("type")
    text = part.get(_TEXTS[kind]) if isinstance(kind, str) and kind in _TEXTS else None
    if isinstance(text, str):
        return text_block(text) if text else None
    if kind in _THOUGHTS if isinstance(kind, str) else False:
        return thought_block(part)
    return attachment_of(part) or verbatim(part)


def thought_block(part: dict[str, Any]) -> ThinkingBlock | None:
    """A part that holds reasoning; None when it has neither text nor data for the provider."""
    block = thinking_block(thought_in(part), part)
    return block if block.thinking or block.signature or block.encrypted_content else None


def thought_in(part: dict[str, Any]) -> str:
    """The text of a reasoning part: `thinking`, `think`, `text`, or the parts of `summary` and `content`."""
    for name in ("thinking", "think", "text", "reasoning"):
        value = part.get(name)
        if isinstance(value, str) and value:
            return value
    found = [a_str(piece.get("text")) for name in ("thinking", "summary", "content") for piece in dicts(part.get(name))]
    return "\n".join(text for text in found if text) or a_str(part.get("summary"))


def plain_text(content: Any) -> str:
    """The text of a content, parts one below the other."""
    return "\n".join(block.text for block in blocks_of(content) if isinstance(block, TextBlock))


def outcome(content: Any) -> tuple[Any, tuple[Block, ...] | None]:
    """A tool's content, as the `output` and `blocks` of its result.

    One text is the output; media and several parts are blocks, and then there is no output; a value that holds
    neither text nor media is the output as it is.
    """
    if not isinstance(content, list):
        return content, None
    blocks = blocks_of(content)
    if not any(isinstance(block, TextBlock | AttachmentBlock) for block in blocks):
        return content or None, None
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        return blocks[0].text, None
    return None, tuple(blocks)
