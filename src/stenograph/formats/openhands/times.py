"""Times of OpenHands: local ones, without a zone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def utc_of(stamp: Any) -> str | None:
    """A time of the machine's own zone as the moment that it is: conversations are read where they were held.

    A text that is not a time is given as it stands.
    """
    if not isinstance(stamp, str) or not stamp:
        return None
    try:
        moment = datetime.fromisoformat(stamp)
        return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return stamp
