"""Claude's records, loosely typed: the fields we read, with values of any type, so that no new version breaks decoding.

Fields that are not declared are skipped while decoding, which makes it fast: most bytes of a session are prompts,
schemas and second copies of tool results.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import fields

Scalar = str | int | float | bool | None


class Usage(Struct, gc=False):
    """The tokens of one model call, as the API counts them."""

    input_tokens: Any = None
    output_tokens: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    cache_creation: Any = None
    """What was written, by the duration of the cache."""
    output_tokens_details: Any = None
    speed: Any = None
    service_tier: Any = None


class ClaudeMessage(Struct, gc=False):
    """The API message inside a `user` or `assistant` record."""

    id: Any = None
    model: Any = None
    content: Any = None
    stop_reason: Any = None
    usage: Usage | None = None
    tool_use: Any = None
    """Calls beside the content: only in documented shapes of older versions."""


class ToolUseResult(Struct, gc=False, rename="camel"):
    """The agent's structured copy of a tool result; only the fields that the result itself does not have."""

    total_duration_ms: Any = None
    duration_ms: Any = None
    stderr: Any = None


class CompactMetadata(Struct, gc=False, rename="camel"):
    """Facts about a compaction, in the spelling of the session files."""

    trigger: Any = None
    pre_tokens: Any = None
    post_tokens: Any = None
    duration_ms: Any = None


class Attachment(Struct, gc=False, rename="camel"):
    """What the harness showed the model besides messages."""

    type: Any = None
    prompt: Any = None
    command_mode: Any = None
    origin: Any = None
    is_meta: Any = None
    text: Any = None
    content: Any = None
    filename: Any = None
    path: Any = None
    date: Any = None
    stderr: Any = None
    stdout: Any = None
    hook_name: Any = None
    hook_event: Any = None
    exit_code: Any = None
    blocking_error: Any = None
    snapshot: Any = None
    identity: Any = None
    item_count: Any = None
    skill_count: Any = None
    task_id: Any = None
    status: Any = None
    used: Any = None
    total: Any = None
    remaining: Any = None
    tools: Any = None


class Shape(Struct, gc=False):
    """What a request to the model had besides its messages."""

    tools: Any = None


class Progress(Struct, gc=False, rename="camel"):
    """Progress of a hook or a running tool."""

    type: Any = None
    hook_event: Any = None
    hook_name: Any = None
    command: Any = None
    elapsed_time_seconds: Any = None
    total_lines: Any = None
    agent_id: Any = None
    message: Any = None
    """A record of a subagent, its message or a result for it (2.1.12 to 2.1.81)."""


class SessionRecord(Struct, gc=False, rename="camel"):
    """One line of a session file."""

    type: Any = None
    subtype: Any = None
    timestamp: Any = None
    uuid: Any = None
    parent_uuid: Any = None
    logical_parent_uuid: Any = None
    session_id: Any = None
    is_sidechain: Any = None
    agent_id: Any = None
    message: ClaudeMessage | list[Any] | str | None = None
    tool_use_result: ToolUseResult | list[Any] | Scalar = None
    attachment: Attachment | None = None
    shape: Shape | list[Any] | Scalar = None
    origin: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    error: Any = None
    api_error_status: Any = None
    api_error_type: Any = None
    cost_usd: Any = field(default=None, name="costUSD")
    """What the answer cost, as versions before 1.0.9 say."""
    # Fields of the other line types.
    content: Any = None
    level: Any = None
    operation: Any = None
    summary: Any = None
    leaf_uuid: Any = None
    compact_metadata: CompactMetadata | list[Any] | Scalar = None
    data: Progress | list[Any] | Scalar = None
    parent_tool_use_id: Any = field(default=None, name="parentToolUseID")
    duration_ms: Any = None
    message_count: Any = None
    retry_attempt: Any = None
    max_retries: Any = None
    retry_in_ms: Any = None
    hook_count: Any = None
    hook_errors: Any = None
    prevented_continuation: Any = None
    stop_reason: Any = None
    trigger: Any = None
    original_model: Any = None
    fallback_model: Any = None
    command_run: Any = None
    last_prompt: Any = None
    custom_title: Any = None
    ai_title: Any = None
    agent_name: Any = None
    tag: Any = None
    mode: Any = None
    permission_mode: Any = None
    tools: Any = None
    total_cost_usd: Any = field(default=None, name="totalCostUSD")
    model_usage: Any = None
    tracking_path: Any = None
    pr_url: Any = None
    frame_url: Any = None
    relocated_cwd: Any = None
    query_source: Any = None
    shape_hash: Any = None
    request_id: Any = field(default=None, name="id")
    # The documented flat shapes.
    flat_session_id: Any = field(default=None, name="session_id")
    flat_tool_use_id: Any = field(default=None, name="tool_use_id")
    flat_tool_name: Any = field(default=None, name="tool_name")
    name: Any = None
    input: Any = None
    output: Any = None
    flat_is_error: Any = field(default=None, name="is_error")
    thinking: Any = None
    dropped_count: Any = field(default=None, name="dropped_count")
    event: Any = None
    details: Any = None


class StreamCompactMetadata(Struct, gc=False):
    """Facts about a compaction, in the spelling of the stream."""

    trigger: Any = None
    pre_tokens: Any = None
    post_tokens: Any = None
    duration_ms: Any = None


class StreamRecord(Struct, gc=False):
    """One line of `--output-format stream-json`."""

    type: Any = None
    subtype: Any = None
    timestamp: Any = None
    session_id: Any = None
    parent_tool_use_id: Any = None
    agent_id: Any = None
    message: ClaudeMessage | list[Any] | str | None = None
    event: Any = None
    tool_use_result: ToolUseResult | list[Any] | Scalar = None
    is_synthetic: Any = field(default=None, name="isSynthetic")
    is_api_error_message: Any = None
    error: Any = None
    api_error_status: Any = None
    api_error_type: Any = None
    # The result of a turn.
    result: Any = None
    is_error: Any = None
    errors: Any = None
    num_turns: Any = None
    duration_ms: Any = None
    total_cost_usd: Any = None
    stop_reason: Any = None
    usage: Usage | None = None
    # Fields of the system lines.
    cwd: Any = None
    model: Any = None
    tools: Any = None
    permission_mode: Any = field(default=None, name="permissionMode")
    claude_code_version: Any = None
    content: Any = None
    text: Any = None
    summary: Any = None
    description: Any = None
    title: Any = None
    status: Any = None
    status_detail: Any = None
    tool_name: Any = None
    tool_use_id: Any = None
    task_id: Any = None
    task_type: Any = None
    last_tool_name: Any = None
    patch: Any = None
    hook_name: Any = None
    hook_event: Any = None
    output: Any = None
    stderr: Any = None
    exit_code: Any = None
    outcome: Any = None
    attempt: Any = None
    max_retries: Any = None
    retry_delay_ms: Any = None
    error_status: Any = None
    estimated_tokens: Any = None
    compact_metadata: StreamCompactMetadata | list[Any] | Scalar = None
    trigger: Any = None
    original_model: Any = None
    fallback_model: Any = None
    new_conversation_id: Any = None


R = TypeVar("R", SessionRecord, StreamRecord)


def record_from(value: Any, kind: type[R]) -> R | None:
    """A decoded JSON value as a record; None when it is not one, or when its message is not a message."""
    if not isinstance(value, dict):
        return None
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return _loose(value, kind)


def _loose(value: dict[Any, Any], kind: type[R]) -> R | None:
    """The record without the fields that have an unknown shape."""
    record = kind()
    for each in fields(kind):
        if each.encode_name not in value:
            continue
        try:
            setattr(record, each.name, msgspec.convert(value[each.encode_name], each.type))
        except (msgspec.ValidationError, RecursionError):
            if each.name == "message":
                return None
    return record


class Fields:
    """Some fields of one kind of record, read together."""

    def __init__(self, kind: type[Struct], *names: str) -> None:
        spelling = {each.name: each.encode_name for each in fields(kind)}
        self._spelled = tuple(spelling[name] for name in names)
        self._values = attrgetter(*names, names[0])  # at least two, so that it always returns a tuple

    def of(self, source: Struct) -> dict[str, Any] | None:
        """The fields that are set, under the agent's own spelling; None when none is set."""
        found = {
            name: value for name, value in zip(self._spelled, self._values(source), strict=False) if value is not None
        }
        return found or None
