"""Which lines are the stream of Gemini CLI, and which session it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import first_in_records


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of lines of the stream: its first line, or the fields of others if that is missing."""
    return SURE if any(isinstance(record, dict) and _is_line(record) for record in records) else 0


def _is_line(record: dict[str, Any]) -> bool:
    if "timestamp" not in record or "sessionID" in record or "uuid" in record:
        return False
    kind = record.get("type")
    if kind == "init":
        return isinstance(record.get("session_id"), str) and "model" in record
    if kind == "tool_use":
        return "tool_name" in record and "tool_id" in record and "parameters" in record
    if kind == "tool_result":
        return "tool_id" in record and record.get("status") in ("success", "error")
    return kind == "message" and "role" in record and record.get("delta") is True


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session as the first line names it."""
    found = [record for record in records if isinstance(record, dict) and record.get("type") == "init"]
    session_id = first_in_records(found[:1], "session_id")
    return Identity(native_id=session_id or "", session_id=session_id, model=first_in_records(found[:1], "model"))
