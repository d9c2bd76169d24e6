"""opencode_stream: what `opencode run --format json` prints.

Theory of operation. A line is a part of the session's messages, printed once it is finished. There are no user
messages, no model names and no subagents in it; tools come in the order in which they ended. Reasoning is there only
with `--thinking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Context, Identity, run_id_of
from stenograph.formats.opencode.content import error_of
from stenograph.formats.opencode.parts import Part, PartFormat, first_stamp
from stenograph.formats.opencode.sessions import NAME as SESSIONS
from stenograph.formats.shared.loose import a_dict, a_str

_LINES = {
    "step_start": "step-start",
    "step_finish": "step-finish",
    "text": "text",
    "reasoning": "reasoning",
    "tool_use": "tool",
}
"""Types of lines, with the type of the part they hold."""


class OpenCodeStreamFormat(PartFormat):
    """One run of `opencode run --format json`."""

    name = "opencode_stream"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session_id: str | None = None

    def _map(self, record: Any) -> None:
        line = a_dict(record)
        kind, part = line.get("type"), line.get("part")
        self._session_id = a_str(line.get("sessionID")) or None
        self._at(line.get("timestamp"))
        if kind == "error":
            self._emit("error", error_of(line.get("error")))
        elif isinstance(kind, str) and kind in _LINES and isinstance(part, dict):
            self._part(
                Part(
                    id=a_str(part.get("id")),
                    message_id=a_str(part.get("messageID")),
                    data={**part, "type": part.get("type", _LINES[kind])},
                    # The prompt is not printed; what the harness writes under the user's role is.
                    role="user" if part.get("synthetic") is True else "assistant",
                    time=line.get("timestamp"),
                )
            )
        else:
            self._unknown(record, kind)

    def _at(self, *times: Any) -> None:
        self._place(first_stamp(*times), session_id=self._session_id)


def detect(records: Sequence[Any], path: str) -> int:
    """How surely the first line holds a part, or is an error, of an OpenCode session."""
    first = a_dict(records[0])
    if "timestamp" not in first or not a_str(first.get("sessionID")).startswith("ses"):
        return 0
    kind, part = a_str(first.get("type")), a_dict(first.get("part"))
    return SURE if kind == "error" or (kind in _LINES and "messageID" in part) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session that the lines name."""
    session_id = next((found for record in records if (found := a_str(a_dict(record).get("sessionID")))), "")
    run_id = run_id_of(SESSIONS, session_id) if session_id else ""  # the same run as in the database
    return Identity(native_id=run_id, session_id=session_id or None)
