"""Which lines are the stream of `claude -p`, and which session it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import first_in_records


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of lines of the stream: they have `session_id`, which session files spell `sessionId`."""
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    found = [record for record in records if isinstance(record, dict)]
    return SURE if any(map(_is_stream_line, found)) and not any(map(_is_foreign, found)) else 0


def _is_foreign(record: dict[str, Any]) -> bool:
    """Whether a record is of Qwen Code, which imitates the stream and spells the permission mode in its own way."""
    is_first = record.get("subtype") == "init"
    return is_first and ("qwen_code_version" in record or "permission_mode" in record)


def _is_stream_line(record: dict[str, Any]) -> bool:
    if "sessionId" in record or "timestamp_ms" in record:
        return False
    kind = record.get("type")
    if kind in ("user", "assistant"):
        return isinstance(record.get("message"), dict) and ("session_id" in record or "parent_tool_use_id" in record)
    if kind in ("system", "result"):
        return isinstance(record.get("subtype"), str) and "session_id" in record
    return kind == "stream_event" and isinstance(record.get("event"), dict)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session that `init` names: hooks that run before it may name one that never exists."""
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    lines = [record for record in records if isinstance(record, dict) and isinstance(record.get("session_id"), str)]
    lines.sort(key=lambda record: record.get("subtype") != "init")
    session_id = str(lines[0]["session_id"]) if lines else ""
    begun = [line for line in lines if line.get("subtype") == "init"]
    return Identity(
        native_id=session_id,
        session_id=session_id or None,
        cwd=first_in_records(begun, "cwd"),
        agent_version=first_in_records(begun, "claude_code_version"),
        model=first_in_records(begun, "model"),
    )
