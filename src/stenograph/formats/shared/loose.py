"""Read JSON of any shape as an expected type; a value of another type reads as empty or None."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

_EPOCH = datetime.fromtimestamp(0, UTC)
_MILLISECONDS = 100_000_000_000
"""Epoch numbers from here on count milliseconds: in seconds it is the year 5138."""
_TOO_MUCH = 10**9
"""Dollars. No call costs as much; below it, sums stay exact."""
_TOO_MANY = 1 << 40
"""Tokens or milliseconds. No call takes as many; an archive, which sums them, holds no more."""
FAR = 253_402_300_800
"""The year 10000, in seconds."""


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


def first_in_records(records: Iterable[Any], name: str) -> str | None:
    """The first non-empty string under this name in any of the records."""
    return next((text for record in records if (text := a_str(a_dict(record).get(name)))), None)


def a_count(value: Any) -> int | None:
    """The value when it is a count."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def dollars(value: Any) -> float | None:
    """The value when it is an amount of money that was spent."""
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _TOO_MUCH
    return float(value) if is_amount else None


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


def time_text(milliseconds: Any) -> str | None:
    """Milliseconds since 1970 as RFC 3339 in UTC, with milliseconds; None when out of range."""
    if not isinstance(milliseconds, int) or isinstance(milliseconds, bool) or not 0 <= milliseconds < FAR * 1000:
        return None
    return _rfc3339(milliseconds)


@lru_cache(maxsize=256)  # many records share a millisecond
def _rfc3339(milliseconds: int) -> str:
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")[:-6] + "Z"


def tokens(value: Any) -> int | None:
    """The value when it is a plausible number of tokens or milliseconds.

    Some programs write whole numbers as 12.0.
    """
    if value.__class__ is float and value.is_integer():
        value = int(value)
    return value if value.__class__ is int and 0 <= value < _TOO_MANY else None


def milliseconds(seconds: Any) -> float | None:
    """A duration or time in seconds as milliseconds; None when it is not a plausible number."""
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < FAR
    return float(seconds) * 1000 if is_time else None


def column_value(value: Any) -> Any:
    """A database column as a JSON value: bytes as text."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def small(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any] | None:
    """The pairs whose value is set, or None when there are none."""
    return {name: value for name, value in pairs if value is not None} or None


def string(value: Any) -> str | None:
    """The value when it is a non-empty string."""
    return value if isinstance(value, str) and value else None
