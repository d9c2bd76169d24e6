"""Which lines are the stream of Copilot CLI, and which session it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.copilot_cli.detection import are_copilots, is_streamed


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of Copilot's records, if some occur only in the stream."""
    return SURE if any(is_streamed(record) for record in records) and are_copilots(records) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session, which only the last line names; the beginning of a longer stream does not have it."""
    for record in records:
        session_id = record.get("sessionId") if isinstance(record, dict) and record.get("type") == "result" else None
        if isinstance(session_id, str) and session_id:
            return Identity(native_id=session_id, session_id=session_id)
    return Identity()
