"""opencode_stream: what `opencode run --format json` prints.

Theory of operation. A line is a part of the session's messages, printed once it is finished. There are no user
messages, no model names and no subagents in it; tools come in the order in which they ended. Reasoning is there only
with `--thinking`.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.opencode.content import error_of
from stenograph.formats.opencode.parts import Part, PartFormat, first_stamp
from stenograph.formats.opencode_stream.detection import LINES
from stenograph.formats.shared.loose import a_dict, a_str


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
        elif isinstance(kind, str) and kind in LINES and isinstance(part, dict):
            self._part(
                Part(
                    id=a_str(part.get("id")),
                    message_id=a_str(part.get("messageID")),
                    data={**part, "type": part.get("type", LINES[kind])},
                    # The prompt is not printed; what the harness says in the user's name is.
                    role="user" if part.get("synthetic") is True else "assistant",
                    time=line.get("timestamp"),
                )
            )
        else:
            self._unknown(record, kind)

    def _at(self, *times: Any) -> None:
        self._place(first_stamp(*times), session_id=self._session_id)
