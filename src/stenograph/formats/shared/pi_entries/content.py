"""What pi's entries say, as payloads and blocks."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.attachment import attachment
from stenograph.formats.shared.loose import a_dict, a_str, dollars, small, string, tokens
from stenograph.formats.shared.pi_entries.record import Cost, Details, Entry, EntryMessage, Usage
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, Fidelity, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.payload import SystemPayload, ToolPayload, UsagePayload

EMITTED: Fidelity = "agent_emitted"
_FACTS = {
    "version": "version", "cwd": "cwd", "id": "id", "parent_session": "parentSession", "branched_from": "branchedFrom",
    "provider": "provider", "model_id": "modelId", "thinking_level": "thinkingLevel", "kind": "kind", "note": "note",
    "first_kept_entry_id": "firstKeptEntryId", "from_id": "fromId", "custom_type": "customType", "display": "display",
    "target_id": "targetId", "label": "label", "session_key": "session_key", "reason": "reason",
    "forked_from": "forked_from",
}  # fmt: skip
"""Fields to keep as data, under the agent's spelling."""


def blocks_of(content: Any) -> tuple[Block, ...]:
    """The blocks of a content: a string or a list of parts."""
    if isinstance(content, str):
        return (TextBlock(fidelity=EMITTED, text=content),)
    return tuple(map(_block_of, content)) if isinstance(content, list) else ()


def _block_of(part: Any) -> Block:
    if not isinstance(part, dict):
        return verbatim(part)
    kind = part.get("type")
    if kind == "text" and isinstance(text := part.get("text"), str):
        return TextBlock(fidelity=EMITTED, text=text)
    if kind == "thinking" and isinstance(thinking := part.get("thinking"), str):
        signature = string(part.get("thinkingSignature"))
        return ThinkingBlock(fidelity=EMITTED, thinking=thinking, signature=signature)
    if kind == "toolCall":
        return ToolUseBlock(
            fidelity=EMITTED,
            tool_name=a_str(part.get("name")),
            tool_id=a_str(part.get("id")),
            tool_input=part.get("arguments"),
        )
    if kind == "image" and isinstance(data := part.get("data"), str):
        return attachment(part.get("mimeType"), data) or verbatim(part)
    return verbatim(part)


def words_of(content: Any) -> str:
    """All words of a content."""
    return "\n".join(block.text for block in blocks_of(content) if isinstance(block, TextBlock))


def prompt_of(message: EntryMessage) -> str:
    """The system prompt: a text, or sections of it."""
    sections = [text for text in a_dict(message.sections).values() if isinstance(text, str) and text]
    return "\n\n".join(filter(None, [words_of(message.content), *sections]))


def result_of(message: EntryMessage) -> ToolPayload:
    """A tool's result: text as output, media and several parts as blocks."""
    blocks: tuple[Block, ...] | None = blocks_of(message.content)
    output: Any = None
    if not blocks:
        output, blocks = "" if message.content == [] else message.content, None
    elif len(blocks) == 1 and isinstance(only := blocks[0], TextBlock):
        output, blocks = only.text, None
    error = None
    if message.is_error is True:
        error = words_of(message.content) or "The tool failed."
    details = message.details if isinstance(message.details, Details) else Details()
    took = tokens(details.duration_ms)
    return ToolPayload(
        name=a_str(message.tool_name),
        call_id=a_str(message.tool_call_id),
        input=None,
        output=output,
        error=error,
        fidelity=EMITTED,
        duration_ms=None if took is None else float(took),
        blocks=blocks,
    )


def typed_command(message: EntryMessage, entry_id: str) -> tuple[ToolPayload, ToolPayload]:
    """A command that a person ran in the session, as call and result."""
    call = ToolPayload(
        name="bash", call_id=entry_id, input={"command": a_str(message.command)}, output=None, fidelity=EMITTED
    )
    code = message.exit_code if message.exit_code.__class__ is int else None
    error = "The command was cancelled." if message.cancelled is True else None
    if error is None and code not in (None, 0):
        error = f"Command exited with code {code}"
    result = ToolPayload(
        name="bash", call_id=entry_id, input=None, output=a_str(message.output), error=error, fidelity=EMITTED
    )
    return call, result


def usage_of(usage: Any, model: Any, entry_id: str) -> UsagePayload | None:
    """The tokens of one model call: its input is written without what was cached, its output with reasoning.

    None when nothing was counted: a call that failed.
    """
    if not isinstance(usage, Usage):
        return None
    into, out, read, written = (
        tokens(count) for count in (usage.input, usage.output, usage.cache_read, usage.cache_write)
    )
    if not (into or out or read or written):
        return None
    thoughts = tokens(usage.reasoning)
    return UsagePayload(
        scope="call",
        input_tokens=(into or 0) + (read or 0) + (written or 0),
        output_tokens=out or 0,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        reasoning_output_tokens=tokens(usage.reasoning_tokens) if thoughts is None else thoughts,
        cost_usd=dollars(usage.cost.total) if isinstance(usage.cost, Cost) else None,
        model=string(model),
        message_id=entry_id or None,
    )


def notice_of(subtype: str, entry: Entry, text: Any = None, **more: Any) -> SystemPayload:
    """An entry that is neither a message nor a tool event: its text and a few fields."""
    facts = [(spelling, _plain(getattr(entry, name))) for name, spelling in _FACTS.items() if name != "id"]
    return SystemPayload(subtype=subtype, text=string(text), data=small([*facts, *more.items()]))


def compaction_of(entry: Entry | EntryMessage) -> SystemPayload:
    """The history was summarized."""
    facts = {"part": "summary", "pre_tokens": tokens(entry.tokens_before)}
    return SystemPayload(subtype="compaction", text=string(entry.summary), data=small(facts.items()))


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else None
