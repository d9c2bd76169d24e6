"""What Cursor wraps around a prompt: the time in words, and context that the user did not type."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_TIME = re.compile(
    r"<timestamp>\s*\w+, (\w{3})\w* (\d{1,2}), (\d{4}), (\d{1,2}):(\d{2}) ([AP])M "
    r"\(UTC(?:([+-]\d{1,2})(?::?(\d{2}))?)?\)\s*</timestamp>"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def prompt_in(text: str) -> tuple[str, str]:
    """What the user typed, and the context around it; a text without a wrapper is all the user's."""
    found = _QUERY.search(text)
    if found is None:
        return text, ""
    return found[1], (text[: found.start()] + text[found.end() :]).strip()


def time_in(text: str) -> str | None:
    """The time beside a prompt, to the minute; None when there is no valid one."""
    found = _TIME.search(text)
    if found is None or found[1] not in _MONTHS:
        return None
    month, hour = _MONTHS.index(found[1]) + 1, int(found[4]) % 12 + (12 if found[6] == "P" else 0)
    offset = timedelta(hours=int(found[7] or 0))
    offset += timedelta(minutes=int(found[8] or 0)) * (-1 if offset < timedelta(0) else 1)
    try:
        moment = datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=timezone(offset))
    except ValueError:
        return None
    return moment.isoformat()
