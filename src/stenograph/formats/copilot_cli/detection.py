"""Which files hold Copilot's records, and which session they are about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.copilot_cli.vocabulary import KNOWN_TYPES
from stenograph.formats.shared.loose import a_dict, first_in_records

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)

_SESSIONS = "session-state"


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of Copilot's records when none of them occurs only in its stream."""
    return SURE if are_copilots(records) and not any(is_streamed(record) for record in records) else 0


def are_copilots(records: Sequence[Any]) -> bool:
    """Whether most objects have Copilot's envelope and a type that it knows."""
    found = [record for record in records if isinstance(record, dict) and not _is_end(record)]
    known = [record for record in found if _type_of(record) in KNOWN_TYPES and _has_envelope(record)]
    return len(known) * 2 > len(found)


def is_streamed(record: Any) -> bool:
    """Whether a record is one that never goes to a file."""
    return isinstance(record, dict) and (record.get("ephemeral") is True or _is_end(record))


def _is_end(record: dict[str, Any]) -> bool:
    return record.get("type") == "result" and "exitCode" in record and "sessionId" in record


def _type_of(record: dict[str, Any]) -> str:
    kind = record.get("type")
    return kind if isinstance(kind, str) else ""


def _has_envelope(record: dict[str, Any]) -> bool:
    return bool(_type_of(record)) and isinstance(record.get("data"), dict) and "timestamp" in record


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by the name of its folder, or of a file that is named after it, else by its first line.

    If neither names it, the name of the folder in which Copilot keeps it is taken, whatever it is.
    """
    *folders, name = re.split(r"[/\\]", path)
    begun = [a_dict(record["data"]) for record in records if _begins(record)]
    places = [a_dict(data.get("context")) for data in begun]
    named = (folders[-1] if folders and name == "events.jsonl" else "", name.removesuffix(".jsonl"))
    session_id = next((each for each in named if _UUID.fullmatch(each)), None) or first_in_records(begun, "sessionId")
    if session_id is None and name == "events.jsonl" and folders[-2:-1] == [_SESSIONS]:
        session_id = folders[-1]
    return Identity(
        native_id=session_id or "",
        session_id=session_id,
        cwd=first_in_records(places, "cwd"),
        branch=first_in_records(places, "branch"),
        agent_version=first_in_records(begun, "copilotVersion"),
        model=first_in_records(begun, "selectedModel"),
    )


def _begins(record: Any) -> bool:
    return isinstance(record, dict) and record.get("type") in ("session.start", "session.resume") and "data" in record
