"""Qwen Code's records, loosely typed: the fields we read, with values of any type.

Fields that are not declared are skipped while decoding: copies of files, snapshots and what was shown on the screen.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from stenograph.formats.shared.typed import Other, fitted


class UiEvent(Struct, gc=False):
    """A measurement of the program: of a model call or a tool call."""

    name: Any = field(default=None, name="event.name")
    model: Any = None
    call_id: Any = None
    function_name: Any = None
    status: Any = None
    duration_ms: Any = None
    prompt_id: Any = None
    subagent_id: Any = None
    status_code: Any = None
    error_type: Any = None
    error_message: Any = None
    input_token_count: Any = None
    output_token_count: Any = None


class Failure(Struct, gc=False):
    """Why a turn failed."""

    message: Any = None
    code: Any = None


class Compression(Struct, gc=False, rename="camel"):
    """How much a compaction saved."""

    original_token_count: Any = None
    new_token_count: Any = None
    compression_status: Any = None


class Payload(Struct, gc=False, rename="camel"):
    """The body of a system record of any subtype; of a user's record, how it was shown."""

    ui_event: UiEvent | Other = None
    display_text: Any = None
    user_text: Any = None
    files_read: Any = None
    status: Any = None
    message: Any = None
    phase: Any = None
    raw_command: Any = None
    custom_title: Any = None
    title_source: Any = None
    model_id: Any = None
    model: Any = None
    parent_session_id: Any = None
    truncated_count: Any = None
    target_turn_index: Any = None
    state: Any = None
    stop_reason: Any = None
    result_text: Any = None
    prompt_id: Any = None
    call_id: Any = None
    error: Failure | Other = None
    info: Compression | Other = None
    compressed_history: Any = None


class Said(Struct, gc=False):
    """What is said, in Gemini's parts."""

    parts: Any = None


class CallResult(Struct, gc=False, rename="camel"):
    """How a call ended."""

    call_id: Any = None
    status: Any = None
    result_display: Any = None
    error_type: Any = None
    duration_ms: Any = None


class Usage(Struct, gc=False, rename="camel"):
    """The tokens of one model call."""

    prompt_token_count: Any = None
    candidates_token_count: Any = None
    thoughts_token_count: Any = None
    total_token_count: Any = None
    cached_content_token_count: Any = None


class Origin(Struct, gc=False, rename="camel"):
    """Where a fork copied a record from."""

    session_id: Any = None


class Record(Struct, gc=False, rename="camel"):
    """One line."""

    uuid: Any = None
    session_id: Any = None
    timestamp: Any = None
    type: Any = None
    subtype: Any = None
    provenance: Any = None
    model: Any = None
    message: Said | Other = None
    usage_metadata: Usage | Other = None
    tool_call_result: CallResult | Other = None
    system_payload: Payload | Other = None
    agent_id: Any = None
    external_input_kind: Any = None
    forked_from: Origin | Other = None


def record_from(value: Any) -> Record | None:
    """A decoded JSON value as a record; None when it is not an object."""
    return fitted(value, Record) if isinstance(value, dict) else None
