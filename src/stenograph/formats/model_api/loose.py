"""JSON of any shape, read as the shape one hopes for; what does not fit reads as nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime.fromtimestamp(0, UTC)
_MILLISECONDS = 100_000_000_000
"""Epoch numbers from here on count milliseconds: in seconds it is the year 5138."""


def a_dict(value: Any) -> dict[str, Any]:
    """The value when it is an object."""
    return value if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """The value when it is an array."""
    return value if isinstance(value, list) else []


def a_str(value: Any) -> str:
    """The value when it is a string."""
    return value if isinstance(value, str) else ""


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects in an array."""
    return [item for item in a_list(value) if isinstance(item, dict)]


def first_str(source: dict[str, Any], *names: str) -> str | None:
    """The first of these fields that is a non-empty string."""
    for name in names:
        value = source.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def a_count(value: Any) -> int | None:
    """The value when it is a number of things."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def a_time(value: Any) -> str | None:
    """A timestamp: a string as it is, an epoch number (seconds or milliseconds) in our own form."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    try:
        time = _EPOCH + timedelta(seconds=value / 1000 if value >= _MILLISECONDS else value)
    except (OverflowError, ValueError):
        return None
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")
