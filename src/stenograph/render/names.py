"""Names for people: of agents, and of the events that machines write for each other."""

from __future__ import annotations

import re

from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, SystemPayload, UsagePayload

_EVENTS = {
    "agent_message": "Answer, repeated",
    "agent_reasoning": "Thinking, repeated",
    "api_retry": "Model asked again",
    "compaction": "Context compacted",
    "file-history-snapshot": "Snapshot of files",
    "init": "Session started",
    "last_updated": "Session file updated",
    "queue-operation": "Prompt queue",
    "repeated": "Part of the history, repeated",
    "session_meta": "Session started",
    "synthetic": "Inserted by the agent",
    "task_complete": "Turn finished",
    "task_started": "Turn started",
    "token_count": "Token count",
    "turn_aborted": "Turn interrupted",
    "turn_context": "Settings of the turn",
    "user_message": "Prompt, repeated",
}
"""Subtypes whose own words would mislead; the others are read word by word."""
NOTICES = frozenset(
    {
        "api_error",
        "attachment/hook_non_blocking_error",
        "command",
        "compaction",
        "inter_agent_message",
        "local_command",
        "local_command_output",
        "max_tokens",
        "model.call_failure",
        "model_refusal_no_fallback",
        "permission_denied",
        "refusal",
        "stream_error",
        "task_notification",
        "turn_aborted",
        "user_shell_command",
    }
)
"""Subtypes of system events that a reader must not miss."""
_WORDS = re.compile(r"[_/.\-]+|(?<=[a-z])(?=[A-Z])")
LABEL_LENGTH = 60


def is_aside(event: Event) -> bool:
    """Whether an event is one that machines write for each other, so that a page hides it until asked."""
    payload = event.payload
    if isinstance(payload, MessagePayload):
        return payload.is_chunk
    if isinstance(payload, SystemPayload):
        return payload.subtype not in NOTICES
    return isinstance(payload, UsagePayload)


def event_label(event: Event) -> str:
    """What kind of event it is, in a few words."""
    payload = event.payload
    if isinstance(payload, UsagePayload):
        return f"{payload.input_tokens:,} tokens in, {payload.output_tokens:,} out"
    if isinstance(payload, MessagePayload):
        return "Piece of a streamed message"
    return words_of(payload.subtype if isinstance(payload, SystemPayload) else event.type)


def words_of(subtype: str) -> str:
    """A subtype as words: `session/request_permission` is `Session request permission`."""
    if subtype in _EVENTS:
        return _EVENTS[subtype]
    words = " ".join(_WORDS.sub(" ", subtype[: 4 * LABEL_LENGTH]).split())
    return words[:1].upper() + words[1:] if words else "Event"
