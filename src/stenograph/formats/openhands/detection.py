"""Which files belong to a conversation of OpenHands 1, and what they say about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, first_str

_FOLDER = re.compile(r"(?:^|[/\\])([0-9a-f]{32})[/\\](?:events[/\\][^/\\]+|base_state\.json)$")
_SOURCES = ("user", "agent", "environment", "hook")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of the state of a conversation, or of one of its events."""
    return SURE if is_state(records[0]) or is_event(records[0]) else 0


def is_state(record: Any) -> bool:
    """Whether a record is the state of a conversation."""
    fields = a_dict(record)
    return "execution_status" in fields and isinstance(fields.get("agent"), dict) and isinstance(fields.get("id"), str)


def is_event(record: Any) -> bool:
    """Whether a record is an event: its kind, its id, its time and its source."""
    fields = a_dict(record)
    texts = all(isinstance(fields.get(name), str) for name in ("id", "timestamp", "kind"))
    return texts and fields.get("source") in _SOURCES


def is_usage(record: Any) -> bool:
    """Whether a record holds the tokens of one model call, as the state lists them."""
    fields = a_dict(record)
    return "prompt_tokens" in fields and "completion_tokens" in fields and isinstance(fields.get("response_id"), str)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The conversation by its state, else by the folder of the file."""
    state = next((a_dict(each) for each in records if is_state(each)), None)
    if state is not None:
        return identity_of(state)
    found = _FOLDER.search(path)
    named = "" if found is None else str(UUID(found[1]))
    return Identity(native_id=named, session_id=named or None)


def identity_of(state: dict[str, Any]) -> Identity:
    """The conversation by its state."""
    named = first_str(state, "id") or ""
    return Identity(
        native_id=named,
        session_id=named or None,
        cwd=first_str(a_dict(state.get("workspace")), "working_dir"),
        model=first_str(a_dict(a_dict(state.get("agent")).get("llm")), "model"),
    )
