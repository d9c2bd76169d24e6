"""Which files are Cursor's transcripts, and what their paths say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import LIKELY, SURE, Identity
from stenograph.formats.shared.loose import a_dict

_FOLDER = "/agent-transcripts/"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def detect(records: Sequence[Any], path: str) -> int:
    """Lines with a role and a message, and no type: likely at the beginning of a file, sure in Cursor's folder."""
    if _FOLDER in path:
        return SURE if any(_is_line(record) and "role" in record for record in records) else 0
    return LIKELY if all(_is_line(record) for record in records[:3]) and "role" in a_dict(records[0]) else 0


def _is_line(record: Any) -> bool:
    line = a_dict(record)
    if line.get("type") == "turn_ended":
        return "role" not in line
    content = a_dict(line.get("message")).get("content")
    return line.get("role") in ("user", "assistant") and "type" not in line and isinstance(content, list | str)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by the name of its file or of the folder above its subagents'; the lines have no ids."""
    *folders, name = path.split("/")
    stem = name.removesuffix(".jsonl")
    if folders[-1:] == ["subagents"] and len(folders) > 1:
        session = folders[-2] if _ID.fullmatch(folders[-2]) else ""
        return Identity(native_id=session, session_id=session or None, source=f"subagent:{stem}")
    session = stem if _ID.fullmatch(stem) else ""
    return Identity(native_id=session, session_id=session or None)
