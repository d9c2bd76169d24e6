"""Which lines Kimi Code prints, and what the first line says about the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, first_str

_VERSION = "system.version"


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by its first line."""
    first = a_dict(records[0])
    return SURE if first.get("role") == "meta" and first.get("type") == _VERSION else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The version. Only the last line names the session, so the run is identified by its beginning."""
    first = a_dict(records[0]) if records else {}
    return Identity(agent_version=first_str(first, "version") if first.get("type") == _VERSION else None)
