"""Which files hold a session of Continue, and what they say about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, dicts, first_in_records, first_str


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a document with a session, its folder and its history, or of the line that begins one."""
    return SURE if is_document(records[0]) else 0


def is_document(record: Any) -> bool:
    """Whether a record is a session, or its beginning without the history."""
    fields = a_dict(record)
    named = isinstance(fields.get("sessionId"), str) and isinstance(fields.get("workspaceDirectory"), str)
    return named and isinstance(fields.get("history"), list)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by its document."""
    document = next((a_dict(each) for each in records if is_document(each)), {})
    return identity_of(document)


def identity_of(document: dict[str, Any]) -> Identity:
    """The session by its document alone."""
    named = first_str(document, "sessionId") or ""
    items = [a_dict(each.get("message")) for each in dicts(document.get("history"))]
    folder = first_str(document, "workspaceDirectory")
    return Identity(
        native_id=named,
        session_id=named or None,
        cwd=None if folder is None else folder.removeprefix("file://"),
        model=first_in_records((a_dict(each.get("usage")) for each in items), "model")
        or first_str(document, "chatModelTitle"),
    )
