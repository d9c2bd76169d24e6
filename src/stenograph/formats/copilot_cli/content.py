"""What Copilot's records say, as payloads and blocks."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from stenograph.formats.copilot_cli.record import Data, Failure, Permission, Result, Usage, Workspace
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.content import blocks_of
from stenograph.formats.shared.loose import small, string, tokens
from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.payload import ErrorPayload, SystemPayload, ToolPayload, UsagePayload

_MEDIA = {"image", "audio", "resource", "resource_link"}
_TEXTS = (
    "message", "content", "summary_content", "summary", "title", "reason", "error_message", "intent",
    "agent_description", "command", "name",
)  # fmt: skip
"""Fields with the text of a record that is not a message; the first non-empty one is taken."""
_FACTS = {
    "session_id": "sessionId", "copilot_version": "copilotVersion", "selected_model": "selectedModel",
    "new_model": "newModel", "model": "model", "cwd": "cwd", "turn_id": "turnId", "tool_call_id": "toolCallId",
    "tool_name": "toolName", "agent_name": "agentName", "source": "source", "info_type": "infoType",
    "warning_type": "warningType", "error_type": "errorType", "status_code": "statusCode", "hook_type": "hookType",
    "success": "success", "shutdown_type": "shutdownType", "outcome": "outcome", "trigger": "trigger",
    "pre_compaction_tokens": "preCompactionTokens", "post_compaction_tokens": "postCompactionTokens",
    "messages_removed": "messagesRemoved", "tokens_removed": "tokensRemoved",
    "tokens_removed_during_truncation": "tokensRemovedDuringTruncation",
    "messages_removed_during_truncation": "messagesRemovedDuringTruncation", "events_removed": "eventsRemoved",
    "up_to_event_id": "upToEventId", "total_tokens": "totalTokens", "total_tool_calls": "totalToolCalls",
    "duration_ms": "durationMs",
}  # fmt: skip
"""Fields to keep as data, under the agent's spelling."""
_texts, _facts = attrgetter(*_TEXTS), attrgetter(*_FACTS)


def user_blocks(data: Data) -> tuple[Block, ...]:
    """What the user typed, and what was attached to it."""
    text = data.content if isinstance(data.content, str) else ""
    return (TextBlock(fidelity="agent_emitted", text=text), *blocks_of(data.attachments))


def thinking_of(data: Data, text: str | None) -> tuple[Block, ...]:
    """The model's thinking with this text; one empty block when all of it is encrypted or was emitted."""
    signature, encrypted = string(data.reasoning_opaque), string(data.encrypted_content)
    if not text and signature is None and encrypted is None:
        return ()
    block = ThinkingBlock(
        fidelity="agent_emitted", thinking=text or "", signature=signature, encrypted_content=encrypted
    )
    return (block,)


def requests_of(data: Data) -> list[ToolUseBlock]:
    """The tool calls in a message."""
    requests = data.tool_requests if isinstance(data.tool_requests, list) else []
    return [
        ToolUseBlock(
            fidelity="agent_emitted",
            tool_name=string(request.get("name")) or "",
            tool_id=string(request.get("toolCallId")) or "",
            tool_input=arguments_of(request.get("arguments")),
            kind="custom" if request.get("type") == "custom" else None,
        )
        for request in requests
        if isinstance(request, dict)
    ]


def result_of(data: Data, name: str, streamed: str | None = None) -> ToolPayload:
    """A tool's result. `streamed` is all that a shell printed, if the result holds only a preview."""
    output, blocks = _output(data.result)
    error = None
    if data.success is False:
        error = _reason(data.error) or (output if isinstance(output, str) else None) or "failed"
        output = error if output is None and blocks is None else output
    if streamed is not None and isinstance(output, str):
        parts = (TextBlock(fidelity="agent_emitted", text=text) for text in (streamed, output))
        output, blocks = None, tuple(parts)
    return ToolPayload(
        name=name,
        call_id=string(data.tool_call_id) or "",
        input=None,
        output=output,
        error=error,
        fidelity="agent_emitted",
        blocks=blocks,
    )


def _output(result: Any) -> tuple[Any, tuple[Block, ...] | None]:
    if not isinstance(result, Result):
        return result, None
    parts = result.contents if isinstance(result.contents, list) else result.binary_results_for_llm
    media = [part for part in parts if _is_media(part)] if isinstance(parts, list) else []
    if not media:
        return result.content, None
    return None, (*blocks_of(result.content), *blocks_of(media))


def _is_media(part: Any) -> bool:
    kind = part.get("type") if isinstance(part, dict) else None
    return isinstance(kind, str) and kind in _MEDIA


def _reason(error: Any) -> str | None:
    return string(error.message) if isinstance(error, Failure) else string(error)


def usage_of(usage: Usage, message_id: str | None) -> UsagePayload | None:
    """The tokens of a call: for every provider, input includes cached and output includes reasoning tokens."""
    into, out = tokens(usage.input_tokens), tokens(usage.output_tokens)
    if into is None and out is None:
        return None
    return UsagePayload(
        scope="call",
        input_tokens=into or 0,
        output_tokens=out or 0,
        cache_read_input_tokens=tokens(usage.cache_read_tokens),
        cache_creation_input_tokens=tokens(usage.cache_write_tokens),
        reasoning_output_tokens=tokens(usage.reasoning_tokens),
        model=string(usage.model),
        message_id=message_id,
    )


def total_of(metrics: Any) -> UsagePayload | None:
    """The tokens of the whole session so far, over all its models; None when a shutdown does not have them."""
    models = metrics if isinstance(metrics, dict) else {}
    usages = {
        model: each["usage"]
        for model, each in models.items()
        if isinstance(each, dict) and isinstance(each.get("usage"), dict)
    }
    if not usages:
        return None

    def added(name: str) -> int | None:
        found = [count for usage in usages.values() if (count := tokens(usage.get(name))) is not None]
        return tokens(sum(found)) if found else None

    return UsagePayload(
        scope="total",
        input_tokens=added("inputTokens") or 0,
        output_tokens=added("outputTokens") or 0,
        cache_read_input_tokens=added("cacheReadTokens"),
        cache_creation_input_tokens=added("cacheWriteTokens"),
        reasoning_output_tokens=added("reasoningTokens"),
        model=next(iter(usages)) if len(usages) == 1 else None,
    )


def error_of(data: Data) -> ErrorPayload:
    """What ended a turn."""
    return ErrorPayload(
        message=string(data.message) or "Copilot reported an error without a message",
        code=string(data.error_code) or string(data.error_type),
        data=small((("errorType", _plain(data.error_type)), ("statusCode", _plain(data.status_code)))),
    )


def notice_of(subtype: str, data: Data) -> SystemPayload:
    """A record that is neither a message nor a tool event: its text and a few fields."""
    text = next((found for found in _texts(data) if found.__class__ is str and found), None)
    named = zip(_FACTS.values(), _facts(data), strict=True)
    facts = {spelling: fact for spelling, fact in named if fact is not None and isinstance(fact, str | int | float)}
    if isinstance(data.context, Workspace) and string(data.context.cwd):
        facts["cwd"] = data.context.cwd
    if isinstance(data.result, Result) and string(data.result.kind):
        facts["result"] = data.result.kind
    if isinstance(data.permission_request, Permission):
        text = text or string(data.permission_request.intention)
        asked = (("kind", data.permission_request.kind), ("toolCallId", data.permission_request.tool_call_id))
        facts |= small(asked) or {}
    return SystemPayload(subtype=subtype, text=text or _reason(data.error), data=facts or None)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float) else None
