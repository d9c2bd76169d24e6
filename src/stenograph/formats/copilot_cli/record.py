"""Copilot's records, loosely typed: the fields we read, with values of any type, so that no new version breaks
decoding.

Fields that are not declared are skipped while decoding: most bytes of a session are the prompt as it was sent, second
copies of results, telemetry and encrypted thoughts.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.shared.typed import Other, fitted


class Usage(Struct, gc=False, rename="camel"):
    """The tokens of one model call."""

    model: Any = None
    input_tokens: Any = None
    output_tokens: Any = None
    cache_read_tokens: Any = None
    cache_write_tokens: Any = None
    reasoning_tokens: Any = None
    api_call_id: Any = None
    finish_reason: Any = None


class Result(Struct, gc=False, rename="camel"):
    """What a tool answered; of a permission, what was decided."""

    content: Any = None
    contents: Any = None
    binary_results_for_llm: Any = None
    kind: Any = None


class Failure(Struct, gc=False, rename="camel"):
    """Why something failed."""

    message: Any = None
    code: Any = None


class Workspace(Struct, gc=False, rename="camel"):
    """Where a session works."""

    cwd: Any = None


class Permission(Struct, gc=False, rename="camel"):
    """What the user is asked to permit."""

    kind: Any = None
    intention: Any = None
    tool_call_id: Any = None


class Data(Struct, gc=False, rename="camel"):
    """The body of a record of any type."""

    # Messages.
    content: Any = None
    message_id: Any = None
    api_call_id: Any = None
    chunk_count: Any = None
    model: Any = None
    source: Any = None
    attachments: Any = None
    is_autopilot_continuation: Any = None
    tool_requests: Any = None
    reasoning_text: Any = None
    reasoning_opaque: Any = None
    encrypted_content: Any = None
    reasoning_id: Any = None
    # Pieces of them, in the stream.
    delta_content: Any = None
    input_delta: Any = None
    text: Any = None
    # Tools and subagents.
    tool_call_id: Any = None
    parent_tool_call_id: Any = None
    tool_name: Any = None
    arguments: Any = None
    success: Any = None
    result: Result | Other = None
    error: Failure | Other = None
    agent_name: Any = None
    agent_description: Any = None
    permission_request: Permission | Other = None
    # Tokens.
    usage: Usage | Other = None
    model_metrics: Any = None
    # Everything else.
    session_id: Any = None
    copilot_version: Any = None
    selected_model: Any = None
    new_model: Any = None
    context: Workspace | Other = None
    turn_id: Any = None
    message: Any = None
    summary: Any = None
    summary_content: Any = None
    title: Any = None
    reason: Any = None
    intent: Any = None
    name: Any = None
    command: Any = None
    cwd: Any = None
    info_type: Any = None
    warning_type: Any = None
    error_type: Any = None
    error_code: Any = None
    error_message: Any = None
    status_code: Any = None
    hook_type: Any = None
    shutdown_type: Any = None
    outcome: Any = None
    trigger: Any = None
    pre_compaction_tokens: Any = None
    post_compaction_tokens: Any = None
    messages_removed: Any = None
    tokens_removed: Any = None
    tokens_removed_during_truncation: Any = None
    messages_removed_during_truncation: Any = None
    events_removed: Any = None
    up_to_event_id: Any = None
    total_tokens: Any = None
    total_tool_calls: Any = None
    duration_ms: Any = None


class Record(Struct, gc=False, rename="camel"):
    """One line; the last fields are those of the stream's final line, which has no `data`."""

    type: Any = None
    data: Data | Other = None
    timestamp: Any = None
    agent_id: Any = None
    session_id: Any = None
    exit_code: Any = None
    usage: Any = None


def record_from(value: Any) -> Record | None:
    """A decoded JSON value as a record; None when it is not one."""
    return fitted(value, Record) if isinstance(value, dict) else None
