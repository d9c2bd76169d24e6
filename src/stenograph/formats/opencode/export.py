"""What `opencode export` writes: a session with its messages, each with its parts, in one document.

Everything is there once, so its place identifies it. An id is used if it has OpenCode's form and occurs once: redactors
write the same word over all ids, and providers may number their calls again in each answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from stenograph.formats.opencode.row import Row, hints_of, nested
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts

_FACTS = {"directory", "projectID", "version", "slug", "title"}


def is_export(record: Any) -> bool:
    """Whether a record is an exported session, also one whose ids were redacted."""
    export = a_dict(record)
    info, messages = a_dict(export.get("info")), export.get("messages")
    if not isinstance(messages, list):
        return False
    if a_str(info.get("id")).startswith("ses"):
        return True
    is_shaped = all(isinstance(each, dict) and {"info", "parts"} <= each.keys() for each in messages)
    return is_shaped and bool(messages) and not _FACTS.isdisjoint(info)


def session_id_of(export: dict[str, Any]) -> str:
    """The session's own id; empty where it was redacted."""
    return _own(a_dict(export.get("info")).get("id"), "ses")


def exported_rows(export: dict[str, Any], run_id: str) -> list[Row]:
    """The rows of an export. Missing ids are made of the run's id and the place."""
    session_id = session_id_of(export)
    info = a_dict(export.get("info"))
    rows = [replace(nested("session", info, None), id=session_id or "session", session_id=session_id)]
    messages = dicts(export.get("messages"))
    message_ids = Counter(a_str(a_dict(each.get("info")).get("id")) for each in messages)
    ids = _Ids(messages, run_id)
    for number, message in enumerate(messages, 1):
        info = a_dict(message.get("info"))
        message_id = _own(info.get("id"), "msg")
        if not message_id or message_ids[message_id] > 1:
            message_id = f"{run_id}:{number}"
        # A part that has no time of its own has its message's.
        made = a_dict(info.get("time")).get("created")
        for part, part_id in ids.of(message, number):
            row = nested("part", part, made)
            rows.append(replace(row, id=part_id, session_id=session_id, message_id=message_id, hints=hints_of(info)))
        rows.append(replace(nested("message", info, None), id=message_id, session_id=session_id))
    return rows


class _Ids:
    """Which ids of parts and calls are unique."""

    def __init__(self, messages: list[dict[str, Any]], run_id: str) -> None:
        parts = [part for message in messages for part in dicts(message.get("parts"))]
        self._parts = Counter(a_str(part.get("id")) for part in parts)
        self._calls = Counter(a_str(part.get("callID")) for part in parts if part.get("type") == "tool")
        self._run_id = run_id

    def of(self, message: dict[str, Any], number: int) -> Iterator[tuple[dict[str, Any], str]]:
        """The parts of a message, each with an id of its own, and of its call."""
        for place, part in enumerate(dicts(a_list(message.get("parts"))), 1):
            made = f"{self._run_id}:{number}.{place}"
            part_id = _own(part.get("id"), "prt")
            if not part_id or self._parts[part_id] > 1:
                part_id = made
            call_id = a_str(part.get("callID"))
            if part.get("type") == "tool" and (self._calls[call_id] > 1 or _is_covered(call_id)):
                part = {**part, "callID": made}
            yield part, part_id


def _own(value: Any, prefix: str) -> str:
    """The value if it has the form of OpenCode's ids, else an empty string."""
    text = a_str(value)
    return text if text.startswith(prefix) and not _is_covered(text) else ""


def _is_covered(id: str) -> bool:
    """Whether a redactor replaced an id."""
    return not id or "redacted" in id.lower()
