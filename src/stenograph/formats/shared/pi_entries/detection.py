"""How a session of entries begins, and what its beginning says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import Identity
from stenograph.formats.shared.loose import a_dict, a_str, first_in_records, string

_IN_NAME = re.compile(r"(?:^|[/\\_])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[^/\\]*$")
_KNOWN = {
    *("message", "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message"),
    *("context_edit", "label", "leaf", "session_info", "usage"),
}
"""The types of entries."""


def header_of(records: Sequence[Any]) -> dict[str, Any]:
    """The header, when the first record is one and the next is an entry; else an empty one."""
    first = a_dict(records[0]) if records else {}
    is_header = (
        first.get("type") == "session" and isinstance(first.get("id"), str) and isinstance(first.get("cwd"), str)
    )
    if not is_header or "timestamp" not in first or "sessionId" in first:
        return {}
    others = [a_dict(record) for record in records[1:]]
    known = sum(a_str(each.get("type")) in _KNOWN and "timestamp" in each for each in others)
    return first if known * 2 >= len(others) else {}


def session_of(path: Any) -> str | None:
    """The session that a file is of, by its name."""
    found = _IN_NAME.search(path) if isinstance(path, str) else None
    return None if found is None else found[1]


def identity_of(records: Sequence[Any], path: str, agent: str | None = None) -> Identity:
    """The session as the header names it, and the first model."""
    found = [a_dict(record) for record in records]
    header = next((each for each in found if each.get("type") == "session"), {})
    session_id = string(header.get("id")) or session_of(path)
    answers = [a_dict(each.get("message")) for each in found]
    return Identity(
        native_id=session_id or "",
        session_id=session_id,
        cwd=string(header.get("cwd")),
        agent=agent,
        model=first_in_records(found, "modelId") or first_in_records(answers, "model"),
    )
