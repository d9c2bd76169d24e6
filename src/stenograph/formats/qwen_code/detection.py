"""Which files hold Qwen Code's records, and which session or subagent they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_str, first_in_records

TYPES = ("user", "assistant", "tool_result", "system")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a session's envelope with Gemini's parts or Qwen Code's payloads in it; a few others may be new ones."""
    found = [record for record in records if isinstance(record, dict)]
    return SURE if any(map(_is_ours, found)) and sum(map(_may_be_ours, found)) * 2 > len(found) else 0


def _is_ours(record: dict[str, Any]) -> bool:
    """Whether a record is one that only Qwen Code writes."""
    if not _may_be_ours(record):
        return False
    if record["type"] == "system":
        return "systemPayload" in record and isinstance(record.get("subtype"), str)
    return isinstance(a_dict(record.get("message")).get("parts"), list)


def _may_be_ours(record: dict[str, Any]) -> bool:
    return "uuid" in record and "sessionId" in record and "timestamp" in record and record.get("type") in TYPES


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by its records, and the subagent that a file is of."""
    found = [a_dict(record) for record in records]
    session_id, agent_id = first_in_records(found, "sessionId"), first_in_records(found, "agentId")
    forked = next(
        (a_str(a_dict(each.get("systemPayload")).get("parentSessionId")) for each in found if _begins(each)), ""
    )
    return Identity(
        native_id=session_id or "",
        session_id=session_id,
        parent_native_id=forked or None,
        source="main" if agent_id is None else f"subagent:{agent_id}",
        cwd=first_in_records(found, "cwd"),
        branch=first_in_records(found, "gitBranch"),
        agent_version=first_in_records(found, "version"),
        model=first_in_records(found, "model"),
    )


def _begins(record: dict[str, Any]) -> bool:
    """Whether a record says which session began this one."""
    return record.get("type") == "system" and record.get("subtype") == "parent_session"
