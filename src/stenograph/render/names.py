"""Names for machine events, which people rarely read."""

from __future__ import annotations

import re
from typing import Any

from stenograph.fold.agent_tables import AgentTables, tables_of
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, SystemPayload, UnknownPayload, UsagePayload

_EVENTS = {
    "compaction": "Context compacted",
    "init": "Session started",
    "repeated": "Part of the history, repeated",
    "synthetic": "Inserted by the agent",
}
"""Subtypes of several formats whose own words would mislead; all others are split into words."""
_NOTICES = frozenset({"api_error", "command", "compaction", "max_tokens", "permission_denied", "refusal"})
"""Subtypes of several formats that a reader must not miss."""
_WORDS = re.compile(r"[_/.\-]+|(?<=[a-z])(?=[A-Z])")
LABEL_LENGTH = 60


def is_aside(event: Event) -> bool:
    """Whether an event is written by machines for machines, so that a page hides it at first."""
    payload = event.payload
    if isinstance(payload, MessagePayload):
        return payload.is_chunk
    if isinstance(payload, SystemPayload):
        return payload.subtype not in _NOTICES and payload.subtype not in _tables(event).notices
    return isinstance(payload, UsagePayload)


def event_label(event: Event) -> str:
    """The kind of an event, in a few words."""
    payload = event.payload
    if isinstance(payload, UsagePayload):
        return f"{payload.input_tokens:,} tokens in, {payload.output_tokens:,} out"
    if isinstance(payload, MessagePayload):
        return "Piece of a streamed message"
    if isinstance(payload, UnknownPayload) and (name := _name_in(payload.value)):
        return f"Unknown: {name[:LABEL_LENGTH]}"
    subtype = payload.subtype if isinstance(payload, SystemPayload) else event.type
    return _tables(event).labels.get(subtype) or _EVENTS.get(subtype) or words_of(subtype)


def _tables(event: Event) -> AgentTables:
    return tables_of(None if event.origin is None else event.origin.adapter)


def _name_in(value: Any) -> str:
    """The name that an unknown message gives itself."""
    inner = value.get("msg") if isinstance(value, dict) else None
    named = [each.get(name) for each in (value, inner) if isinstance(each, dict) for name in ("method", "type")]
    return next((name for name in named if isinstance(name, str)), "")


def words_of(subtype: str) -> str:
    """A subtype as words: `session/request_permission` is `Session request permission`."""
    words = " ".join(_WORDS.sub(" ", subtype[: 4 * LABEL_LENGTH]).split())
    return words[:1].upper() + words[1:] if words else "Event"
