"""What names the run that a conversation is, and the conversation that a file is of."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, first_str

MARK = "stenograph"
"""The field beside the spans of a line that `steno receive` wrote: it names the conversation of the file."""


def native_id_of(conversation: str) -> str:
    """The id of a run by its conversation; no id of another agent looks like it."""
    return f"{conversation}@otlp"


def conversation_in(record: Any) -> str:
    """The conversation that a line names for the whole file; empty where it names none."""
    return first_str(a_dict(a_dict(record).get(MARK)), "conversation") or ""
