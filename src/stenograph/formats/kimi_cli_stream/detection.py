"""Which lines Kimi CLI prints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE
from stenograph.formats.shared.loose import a_dict, dicts
from stenograph.formats.shared.model_api.parts import plain_text

_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id"})
_OF_THE_PROGRAM = re.compile(r"\A(?:<system>|agent_id: \w+\nresumed: )")
"""The beginning of a result to which the program added a note."""


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by words that only this program adds; without any, it may be any chat."""
    lines = [a_dict(record) for record in records]
    if lines[0].get("role") != "assistant" or not all(map(_is_line, lines)):
        return 0
    return SURE if any(map(_has_mark, lines)) else 0


def _is_line(line: dict[str, Any]) -> bool:
    return line.get("role") in ("assistant", "tool") and line.keys() <= _FIELDS


def _has_mark(line: dict[str, Any]) -> bool:
    if line["role"] == "tool":
        return _OF_THE_PROGRAM.match(plain_text(line.get("content"))) is not None
    return any(part.get("type") == "think" and "encrypted" in part for part in dicts(line.get("content")))
