"""Claude's content blocks as canonical blocks, tool results and usage. Shared by everything that holds API messages."""

from __future__ import annotations

import json
import re
from typing import Any

from stenograph.formats.claude_code.record import Usage
from stenograph.formats.shared.attachment import attachment, text_attachment
from stenograph.formats.shared.loose import a_str, dollars, string, tokens
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import (
    AttachmentBlock,
    Block,
    Fidelity,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from stenograph.model.payload import ToolPayload, UsagePayload

EMITTED: Fidelity = "agent_emitted"


def blocks_of(content: Any) -> list[Block]:
    """The blocks of a message's content, in order: a string, a list of blocks, or one block."""
    if isinstance(content, str):
        return [TextBlock(fidelity=EMITTED, text=content)]
    if isinstance(content, list):
        return [block_of(item) for item in content]
    return [] if content is None else [block_of(content)]


def block_of(item: Any) -> Block:
    """One content block; unknown types are kept unchanged."""
    if isinstance(item, str):
        return TextBlock(fidelity=EMITTED, text=item)
    if not isinstance(item, dict):
        return verbatim(item)
    kind = item.get("type")
    if kind == "text" and isinstance(text := item.get("text"), str):
        return TextBlock(fidelity=EMITTED, text=text)
    if kind == "thinking" and isinstance(thinking := item.get("thinking"), str):
        return ThinkingBlock(fidelity=EMITTED, thinking=thinking, signature=string(item.get("signature")))
    if kind == "redacted_thinking" and isinstance(hidden := item.get("data"), str):
        return ThinkingBlock(fidelity=EMITTED, thinking="", encrypted_content=hidden)
    if kind == "tool_use" or is_server_call(kind):
        return ToolUseBlock(
            fidelity=EMITTED,
            tool_name=a_str(item.get("name")),
            tool_id=a_str(item.get("id")),
            tool_input=item.get("input"),
            kind="server" if kind != "tool_use" else None,
        )
    if is_result(kind):
        return ToolResultBlock(
            fidelity=EMITTED, tool_id=a_str(item.get("tool_use_id")), tool_content=item.get("content")
        )
    if kind in ("image", "document"):
        return attachment_of(item) or verbatim(item)
    return verbatim(item)


def is_server_call(kind: Any) -> bool:
    """Whether a block is a call that runs on the API's side (`server_tool_use`, `mcp_tool_use`)."""
    return isinstance(kind, str) and kind.endswith("_tool_use")


def is_result(kind: Any) -> bool:
    """Whether a block answers a call: `tool_result`, or one of the API's own (`web_search_tool_result`)."""
    return isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result"))


def attachment_of(item: dict[str, Any]) -> AttachmentBlock | None:
    """An image or document inside the block; None when its content is elsewhere or not base64."""
    source = item.get("source")
    if not isinstance(source, dict) or not isinstance(data := source.get("data"), str):
        return None
    if source.get("type") != "text":
        return attachment(source.get("media_type"), data)
    try:
        return text_attachment(source.get("media_type"), data.encode())
    except UnicodeEncodeError:
        return None


def result_of(item: dict[str, Any], *, duration_ms: Any = None, name: Any = None) -> ToolPayload:
    """The answer in a tool_result block: text as output, media and several parts as blocks."""
    content = item.get("content")
    output: Any = content
    blocks = None
    if isinstance(content, list):
        parts = blocks_of(content)
        if len(parts) == 1 and isinstance(parts[0], TextBlock):
            output = parts[0].text
        elif parts:
            output, blocks = None, tuple(parts)
        else:
            output = ""
    return ToolPayload(
        name=a_str(name),
        call_id=a_str(item.get("tool_use_id")),
        input=None,
        output=output,
        error=_error_text(output, blocks) if item.get("is_error") is True else None,
        fidelity=EMITTED,
        duration_ms=None if (elapsed := tokens(duration_ms)) is None else float(elapsed),
        blocks=blocks,
    )


def _error_text(output: Any, blocks: tuple[Block, ...] | None) -> str:
    if isinstance(output, str):
        text = output
    elif blocks:
        text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
    else:
        text = "" if output is None else json.dumps(output, ensure_ascii=False)
    return text or "The tool failed."


_SAVED_TO = re.compile(r"<persisted-output>\s[^\n]*?Full output saved to: ([^\n]+)")


def side_file_of(output: Any) -> str | None:
    """The file in which the agent stored an oversized output, relative to the session's folder."""
    if not isinstance(output, str) or not output.startswith("<persisted-output>"):
        return None
    found = _SAVED_TO.match(output)
    if found is None:
        return None
    name = re.split(r"[/\\]", found.group(1).strip())[-1]
    return f"tool-results/{name}" if name else None


def usage_of(
    usage: Usage, *, scope: Any = "call", model: Any = None, message_id: Any = None, cost_usd: Any = None
) -> UsagePayload:
    """Usage with cached input included in the input, as the wire format requires."""
    read = tokens(usage.cache_read_input_tokens)
    by_duration = usage.cache_creation if isinstance(usage.cache_creation, dict) else {}
    hour = tokens(by_duration.get("ephemeral_1h_input_tokens"))
    created = tokens(usage.cache_creation_input_tokens)
    if created is None and by_duration:
        created = (tokens(by_duration.get("ephemeral_5m_input_tokens")) or 0) + (hour or 0)
    details = usage.output_tokens_details
    return UsagePayload(
        scope=scope,
        input_tokens=(tokens(usage.input_tokens) or 0) + (read or 0) + (created or 0),
        output_tokens=tokens(usage.output_tokens) or 0,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=created,
        cache_creation_1h_input_tokens=hour,
        reasoning_output_tokens=tokens(details.get("thinking_tokens")) if isinstance(details, dict) else None,
        speed=string(usage.speed),
        service_tier=string(usage.service_tier),
        cost_usd=dollars(cost_usd),
        model=string(model),
        message_id=string(message_id),
    )
