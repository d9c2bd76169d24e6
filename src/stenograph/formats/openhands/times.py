"""Times of OpenHands: local ones, without a zone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def utc_of(stamp: Any) -> str | None:
    """A local time as UTC. It is taken to be in this machine's zone: conversations are read where they were held.

    A text that is not a time is returned unchanged.
    """
    if not isinstance(stamp, str) or not stamp:
        return None
    try:
        moment = datetime.fromisoformat(stamp)
        return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return stamp
