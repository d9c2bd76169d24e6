"""Which lines `opencode run` prints, and which session they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity, run_id_of
from stenograph.formats.opencode.sessions import NAME as SESSIONS
from stenograph.formats.shared.loose import a_dict, a_str

LINES = {
    "step_start": "step-start",
    "step_finish": "step-finish",
    "text": "text",
    "reasoning": "reasoning",
    "tool_use": "tool",
}
"""Types of lines, with the type of the part they hold."""


def detect(records: Sequence[Any], path: str) -> int:
    """Sure if the first line holds a part or an error of an OpenCode session."""
    first = a_dict(records[0])
    if "timestamp" not in first or not a_str(first.get("sessionID")).startswith("ses"):
        return 0
    kind, part = a_str(first.get("type")), a_dict(first.get("part"))
    return SURE if kind == "error" or (kind in LINES and "messageID" in part) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session that the lines name."""
    session_id = next((found for record in records if (found := a_str(a_dict(record).get("sessionID")))), "")
    run_id = run_id_of(SESSIONS, session_id) if session_id else ""  # the same run as in the database
    return Identity(native_id=run_id, session_id=session_id or None)
