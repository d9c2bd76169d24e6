"""A span of time as a person says it: `7d`, `yesterday`, `2026-11-01`, or a moment. Days are those of this machine."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from msgspec import Struct

from stenograph.errors import InvalidQuery

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = timedelta(days=1)


class Period(Struct, frozen=True):
    """From one moment up to, and not including, another; in milliseconds since 1970. None is open."""

    since: int | None = None
    until: int | None = None


def period_of(since: str | None, until: str | None, now: datetime | None = None) -> Period:
    """The time between two moments as they were typed; a day given as the end counts whole. Raises `InvalidQuery`."""
    now = (now or datetime.now()).astimezone()
    return Period(
        None if since is None else _milliseconds(_moment(since, now)[0]),
        None if until is None else _milliseconds(_moment(until, now)[1]),
    )


def _moment(text: str, now: datetime) -> tuple[datetime, datetime]:
    """The first moment that a text names, and the one after its last."""
    word = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if word in ("today", "yesterday"):
        day = midnight if word == "today" else _midnight(midnight - _DAY)
        return day, _midnight(day + _DAY)
    try:
        if ago := re.fullmatch(r"(\d{1,6})\s*([smhdw])", word):
            moment = now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
            return moment, moment
        moment = datetime.fromisoformat(text.strip())
        is_day = re.fullmatch(r"\d{4}-?\d\d-?\d\d|\d{4}-?W\d\d(-?\d)?", text.strip()) is not None
        moment = moment.astimezone()
        return moment, _midnight(moment + _DAY) if is_day else moment
    except (ValueError, OverflowError) as error:
        message = f"{text!r} is not a time; give a day (2026-11-01), a moment, 7d, 24h, 30m, today or yesterday"
        raise InvalidQuery(message) from error


def _midnight(moment: datetime) -> datetime:
    """The beginning of the moment's day; days are not always 24 hours long."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None).astimezone()


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
