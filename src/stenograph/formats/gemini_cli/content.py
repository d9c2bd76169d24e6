"""Gemini's content as blocks: a string or a list of parts, thoughts, and the calls beside them."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.gemini_parts import EMITTED, add_block, block_of, call_block, parts_of
from stenograph.formats.shared.loose import a_str, dicts, first_str, tokens
from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.payload import UsagePayload


def answer_blocks(message: dict[str, Any]) -> list[Block]:
    """The blocks of a model's message: thoughts, content, and the calls that the content does not hold."""
    blocks: list[Block] = []
    if thoughts := message.get("thoughts"):
        words = [thought_of(thought) for thought in dicts(thoughts)]
        blocks += [ThinkingBlock(fidelity=EMITTED, thinking=thought) for thought in words if thought]
    content = message.get("content")
    if isinstance(content, str):
        blocks += [TextBlock(fidelity=EMITTED, text=content)] if content else []
    else:
        _add_parts(blocks, parts_of(content), a_str(message.get("id")))
    if calls := calls_of(message):
        asked = {block.tool_id for block in blocks if isinstance(block, ToolUseBlock)}
        blocks += [call_block(call, call_id) for call_id, call in calls if call_id not in asked]
    return blocks


def _add_parts(blocks: list[Block], parts: list[Any], message_id: str) -> None:
    """Add parts: adjacent texts are joined; thoughts may be both before and among the parts, and are taken once."""
    thoughts = {squeezed(block.thinking) for block in blocks if isinstance(block, ThinkingBlock)}
    for number, part in enumerate(parts):
        block = block_of(part, f"{message_id}:{number}")
        if not (isinstance(block, ThinkingBlock) and squeezed(block.thinking) in thoughts):
            add_block(blocks, block)


def calls_of(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The tool calls recorded with a model's message, each with its id."""
    calls = dicts(message.get("toolCalls"))
    message_id = a_str(message.get("id"))
    return [(first_str(call, "id") or f"{message_id}:call-{number}", call) for number, call in enumerate(calls)]


def thought_of(thought: dict[str, Any]) -> str:
    """A thought as the model wrote it: the CLI stores the bold heading and the text below it separately."""
    subject, description = a_str(thought.get("subject")), a_str(thought.get("description"))
    if not subject:
        return description
    return f"**{subject}**\n\n{description}" if description else f"**{subject}**"


def squeezed(text: str) -> bytes:
    """A text without blanks: the CLI trims texts and joins their lines when it writes them again."""
    return text.strip().encode("utf-8", "surrogatepass").translate(None, b" \t\n\v\f\r")


def usage_of(counts: Any, model: str | None, message_id: str) -> UsagePayload | None:
    """The tokens of one model call: its input includes what was cached, its output does not include thoughts."""
    if not isinstance(counts, dict):
        return None
    thoughts = tokens(counts.get("thoughts"))
    return UsagePayload(
        scope="call",
        input_tokens=(tokens(counts.get("input")) or 0) + (tokens(counts.get("tool")) or 0),
        output_tokens=(tokens(counts.get("output")) or 0) + (thoughts or 0),
        cache_read_input_tokens=tokens(counts.get("cached")),
        reasoning_output_tokens=thoughts,
        model=model,
        message_id=message_id or None,
    )
