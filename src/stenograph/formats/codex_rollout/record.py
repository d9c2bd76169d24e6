"""Lines of a rollout as typed records: only the fields that are used, with values of any type.

The decoder skips fields that are not declared here, which are most of a rollout's bytes (instructions, world states,
replaced histories, duplicates of outputs). Lines that the typed decoder refuses take the slow path through `convert`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from stenograph.model import mend
from stenograph.model.codec import REFUSALS

_NOTHING = Raw(b"")


class _Loose(Struct, gc=False):
    """Fields of any JSON type; absent is None."""


class Meta(_Loose):
    """`session_meta`: which thread this file holds, and where it comes from."""

    id: Any = None
    timestamp: Any = None
    cwd: Any = None
    originator: Any = None
    cli_version: Any = None
    source: Any = None
    model_provider: Any = None
    history_mode: Any = None
    session_id: Any = None
    parent_thread_id: Any = None
    forked_from_id: Any = None
    history_base: Any = None
    agent_path: Any = None
    agent_nickname: Any = None
    agent_role: Any = None
    git: Any = None
    dynamic_tools: Raw = _NOTHING


class Turn(_Loose):
    """`turn_context`: the settings of the turn that follows; the only place that names the model."""

    turn_id: Any = None
    model: Any = None
    effort: Any = None
    cwd: Any = None
    approval_policy: Any = None
    sandbox_policy: Any = None


class Item(_Loose):
    """`response_item`: what the model was given and what it answered."""

    type: str = ""
    id: Any = None
    role: Any = None
    content: Any = None
    summary: Any = None
    encrypted_content: Any = None
    name: Any = None
    namespace: Any = None
    call_id: Any = None
    arguments: Any = None
    input: Any = None
    output: Any = None
    action: Any = None
    status: Any = None
    tools: Raw = _NOTHING
    result: Any = None
    revised_prompt: Any = None
    author: Any = None
    recipient: Any = None
    success: Any = None
    passthrough: Raw = field(default=_NOTHING, name="internal_chat_message_metadata_passthrough")


class TurnItem(_Loose):
    """The item of an `item_completed`."""

    type: str = ""
    id: Any = None
    status: Any = None
    exit_code: Any = None
    duration: Any = None
    error: Any = None
    success: Any = None
    stderr: Any = None
    source: Any = None
    command: Any = None
    result: Raw = _NOTHING
    content_items: Any = None
    aggregated_output: Raw = _NOTHING
    changes: Raw = _NOTHING
    tool: Any = None
    kind: Any = None
    agent_thread_id: Any = None
    receiver_thread_ids: Any = None
    path: Any = None
    query: Any = None
    text: Any = None
    review_output: Any = None


class EventMessage(_Loose):
    """`event_msg`: what Codex sent to its user interface."""

    type: str = ""
    item: TurnItem | None = None
    thread_id: Any = None
    info: Raw = _NOTHING
    turn_id: Any = None
    duration_ms: Any = None
    message: Any = None
    text: Any = None
    error: Any = None
    codex_error_info: Any = None
    reason: Any = None
    call_id: Any = None
    status: Any = None
    success: Any = None
    exit_code: Any = None
    stderr: Any = None
    duration: Any = None
    result: Raw = _NOTHING
    kind: Any = None
    agent_thread_id: Any = None
    new_thread_id: Any = None
    receiver_thread_id: Any = None
    num_turns: Any = None
    thread_name: Any = None
    path: Any = None
    query: Any = None
    review_output: Any = None
    thread_settings: Any = None


class Compacted(_Loose):
    """`compacted`: the history was replaced by a summary."""

    message: Any = None
    window_number: Any = None
    compaction_response_id: Any = None


class UsageRecord(_Loose):
    """`token_usage_record`: the exact usage of one answer of the model."""

    response_id: Any = None
    turn_id: Any = None
    usage: Any = None


class Note(_Loose):
    """A line type with little content: `world_state`, `retained_context` and the like."""

    type: Any = None
    full: Any = None
    trigger_turn: Any = None
    call_id: Any = None
    questions: Any = None
    author: Any = None
    recipient: Any = None
    content: Any = None


Payload = Meta | Turn | Item | EventMessage | Compacted | UsageRecord | Note

PAYLOADS: dict[str, type[Any]] = {
    "session_meta": Meta,
    "turn_context": Turn,
    "response_item": Item,
    "event_msg": EventMessage,
    "compacted": Compacted,
    "token_usage_record": UsageRecord,
    "world_state": Note,
    "retained_context": Note,
    "inter_agent_communication": Note,
    "inter_agent_communication_metadata": Note,
    "security_risk_score": Note,
}
"""The line types we know, each with the shape of its payload."""

_BARE_ITEMS = {"message", "reasoning", "function_call", "function_call_output", "local_shell_call"}
"""Types of items that before 0.42 were written without an envelope."""


class Record(Struct, gc=False):
    """One line of a rollout."""

    type: str = ""
    timestamp: Any = None
    payload: Any = None
    """A `Payload`; None for an unknown line."""
    metadata: Raw = _NOTHING
    line: bytes | None = None
    value: Any = None
    """The whole line as JSON, where it was decoded whole."""

    def whole(self) -> Any:
        """The line as JSON, or as text when it cannot be parsed."""
        if self.line is None:
            return self.value
        try:
            return mend.parse_json(self.line)[0]
        except (ValueError, RecursionError):
            return self.line.decode("utf-8", "replace")


class _Line(_Loose):
    type: str = ""
    timestamp: Any = None
    payload: Raw = _NOTHING
    metadata: Raw = _NOTHING


_decode_line = msgspec.json.Decoder(_Line).decode
_decoders = {name: msgspec.json.Decoder(kind).decode for name, kind in PAYLOADS.items()}
_decode_json = msgspec.json.Decoder().decode
_encode_json = msgspec.json.Encoder().encode
_UNWRITABLE = (TypeError, ValueError, OverflowError)


def decode(line: bytes) -> Record:
    """The record of a line; raises what msgspec raises when `convert` is needed."""
    head = _decode_line(line)
    decode_payload = _decoders.get(head.type)
    if decode_payload is None or head.payload == _NOTHING:
        raise msgspec.ValidationError("not a line type we know")  # `convert` sees the whole of it
    return Record(head.type, head.timestamp, decode_payload(head.payload), head.metadata, line)


def convert(value: Any) -> Record:
    """The record of any JSON value."""
    if not isinstance(value, dict):
        return Record("", value=value)
    name, payload = value.get("type"), value.get("payload")
    if payload is None:
        name, payload = _bare(value)
    name = name if isinstance(name, str) else ""
    record = Record(name, value.get("timestamp"), value=value)
    decode_payload = _decoders.get(name)
    if decode_payload is not None:
        try:
            # Through JSON, because undecoded parts (`msgspec.Raw`) can only be cut out of it.
            record.payload = decode_payload(_encode(payload))
            if "metadata" in value:
                record.metadata = Raw(_encode(value["metadata"]))
        except (*REFUSALS, *_UNWRITABLE):
            pass  # a known line type in an unknown shape
    return record


def _encode(value: Any) -> bytes:
    try:
        return _encode_json(value)
    except UnicodeEncodeError:  # lone surrogates
        return _encode_json(mend.scrub(value)[0])


def _bare(value: dict[str, Any]) -> tuple[Any, Any]:
    """A line without an envelope, in the envelope that newer versions write."""
    name = value.get("type")
    if name is None and "id" in value and ("instructions" in value or "git" in value):
        return "session_meta", value
    if isinstance(name, str) and name in _BARE_ITEMS:
        return "response_item", value
    return name, None


def loads(raw: Raw) -> Any:
    """A part that was left undecoded; None when it is absent or cannot be read."""
    try:
        return _decode_json(raw) if raw != _NOTHING else None
    except REFUSALS:
        return None
