"""Which lines are the stream of Qwen Code, and which session it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import first_in_records


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of lines of the stream by its first one, which names the program's version."""
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    return SURE if any(isinstance(record, dict) and _begins(record) for record in records) else 0


def _begins(record: dict[str, Any]) -> bool:
    is_first = record.get("type") == "system" and record.get("subtype") == "init" and "session_id" in record
    return is_first and ("qwen_code_version" in record or "permission_mode" in record)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session as the first line names it."""
    if len(records) == 1 and isinstance(records[0], list):
        records = records[0]
    begun = [record for record in records if isinstance(record, dict) and _begins(record)]
    session_id = first_in_records(begun, "session_id")
    return Identity(
        native_id=session_id or "",
        session_id=session_id,
        cwd=first_in_records(begun, "cwd"),
        agent_version=first_in_records(begun, "qwen_code_version"),
        model=first_in_records(begun, "model"),
    )
