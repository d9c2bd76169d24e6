"""Which files are sessions of kimi-cli, and what they say about their run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_str

_PLACE = re.compile(r"(?:\A|/)([0-9a-f]{8}-[0-9a-f-]{27})/(?:subagents/([^/]+)/)?wire\.jsonl\Z")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by the shape of most of its records: a time and a message with a type and a payload."""
    first, *others = records
    begins = _is_header(first) or is_record(first)
    return SURE if begins and sum(map(is_record, others)) * 2 >= len(others) else 0


def _is_header(record: Any) -> bool:
    """Whether a record begins a file; Kimi Code's has a time in it."""
    fields = a_dict(record)
    return fields.get("type") == "metadata" and "protocol_version" in fields and "created_at" not in fields


def is_record(record: Any) -> bool:
    """Whether a record is a message of the program to its user interface."""
    message = a_dict(a_dict(record).get("message"))
    is_named = bool(a_str(message.get("type"))) and isinstance(message.get("payload"), dict)
    return is_named and isinstance(record.get("timestamp"), int | float)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session and its subagent by the file's place; the records do not name them."""
    place = _PLACE.search(path.replace("\\", "/"))
    if place is None:
        return Identity()
    source = f"subagent:{place[2]}" if place[2] else "main"
    return Identity(native_id=place[1], session_id=place[1], source=source)
