"""Gemini's content as blocks: a string or a list of parts, thoughts, and the calls beside them."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.attachment import attachment
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import (
    Block,
    Fidelity,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from stenograph.model.payload import UsagePayload

EMITTED: Fidelity = "agent_emitted"
_TOO_MANY = 1 << 60
"""Tokens that no model ever reaches."""


def parts_of(content: Any) -> list[Any]:
    """The parts of a message's content, whichever way it is written."""
    if isinstance(content, list):
        return content
    return [] if content is None or content == "" else [content]


def text_of(part: Any) -> str | None:
    """The words of a part that is nothing but words."""
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and not part.get("thought") and isinstance(text := part.get("text"), str):
        return text
    return None


def texts_of(content: Any) -> str:
    """All words of a message's content."""
    return "\n".join(text for part in parts_of(content) if (text := text_of(part)))


def response_of(part: Any) -> dict[str, Any] | None:
    """The answer to a call that a part holds."""
    response = part.get("functionResponse") if isinstance(part, dict) else None
    return response if isinstance(response, dict) else None


def block_of(part: Any, call_id: str = "") -> Block:
    """One part; what we do not know is kept as it stood. `call_id` names a call that has no id of its own."""
    text = text_of(part)
    if text is not None:
        return TextBlock(fidelity=EMITTED, text=text)
    if not isinstance(part, dict):
        return verbatim(part)
    if isinstance(thinking := part.get("text"), str):
        return ThinkingBlock(fidelity=EMITTED, thinking=thinking, signature=first_str(part, "thoughtSignature"))
    if isinstance(call := part.get("functionCall"), dict):
        return call_block(call, call_id)
    if (response := response_of(part)) is not None:
        return ToolResultBlock(
            fidelity=EMITTED, tool_id=a_str(response.get("id")), tool_content=response.get("response")
        )
    media = a_dict(part.get("inlineData"))
    if isinstance(data := media.get("data"), str):
        return attachment(media.get("mimeType"), data) or verbatim(part)
    return verbatim(part)


def call_block(call: dict[str, Any], call_id: str) -> ToolUseBlock:
    """A call of a tool, under its own id or the one given."""
    return ToolUseBlock(
        fidelity=EMITTED,
        tool_name=a_str(call.get("name")),
        tool_id=first_str(call, "id") or call_id,
        tool_input=call.get("args"),
    )


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
    """Adjacent texts are pieces of one; thoughts may stand both before and among the parts, and are taken once."""
    told = {squeezed(block.thinking) for block in blocks if isinstance(block, ThinkingBlock)}
    for number, part in enumerate(parts):
        block = block_of(part, f"{message_id}:{number}")
        last = blocks[-1] if blocks else None
        if isinstance(block, ThinkingBlock) and squeezed(block.thinking) in told:
            continue
        if isinstance(block, TextBlock) and isinstance(last, TextBlock):
            blocks[-1] = TextBlock(fidelity=EMITTED, text=last.text + block.text)
        elif not isinstance(block, TextBlock) or block.text:
            blocks.append(block)


def calls_of(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The tool calls recorded with a model's message, each with the id it goes by."""
    calls = dicts(message.get("toolCalls"))
    message_id = a_str(message.get("id"))
    return [(first_str(call, "id") or f"{message_id}:call-{number}", call) for number, call in enumerate(calls)]


def thought_of(thought: dict[str, Any]) -> str:
    """A thought as the model wrote it: the CLI keeps the bold heading and what is below it apart."""
    subject, description = a_str(thought.get("subject")), a_str(thought.get("description"))
    if not subject:
        return description
    return f"**{subject}**\n\n{description}" if description else f"**{subject}**"


def squeezed(text: str) -> bytes:
    """Words without their blanks: the CLI trims texts and flattens their lines when it writes them again."""
    return text.strip().encode("utf-8", "surrogatepass").translate(None, b" \t\n\v\f\r")


def usage_of(tokens: Any, model: str | None, message_id: str) -> UsagePayload | None:
    """The tokens of one model call: its input includes what was cached, its output does not include thoughts."""
    if not isinstance(tokens, dict):
        return None
    thoughts = _tokens(tokens.get("thoughts"))
    return UsagePayload(
        scope="call",
        input_tokens=(_tokens(tokens.get("input")) or 0) + (_tokens(tokens.get("tool")) or 0),
        output_tokens=(_tokens(tokens.get("output")) or 0) + (thoughts or 0),
        cache_read_input_tokens=_tokens(tokens.get("cached")),
        reasoning_output_tokens=thoughts,
        model=model,
        message_id=message_id or None,
    )


def _tokens(value: Any) -> int | None:
    return value if value.__class__ is int and 0 <= value < _TOO_MANY else None
