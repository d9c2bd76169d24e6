"""Which databases and rows are OpenClaw's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_list, a_str
from stenograph.formats.shared.pi_entries.detection import identity_of

_TABLES = {"transcript_events", "session_windows", "session_nodes", "schema_meta"}


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a database with OpenClaw's tables, or of rows that were read from one."""
    first = a_dict(records[0])
    if first.get("database") == "sqlite":
        return SURE if {name for name in a_list(first.get("tables")) if isinstance(name, str)} >= _TABLES else 0
    return SURE if first.get("type") == "session_window" and a_str(first.get("session_key")) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session of the rows; the layout lists all sessions of a database."""
    return identity_of(records, path)
