"""Numbers as people say them: durations, tokens, times of day."""

from __future__ import annotations

import re

from stenograph.fold.prices import Cost
from stenograph.fold.usage import Usage

_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ](\d\d:\d\d:\d\d)")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)


def duration(seconds: float) -> str:
    """`850 ms`, `1.2 s`, `3 min 4 s`, `2 h 5 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


def count(number: int) -> str:
    """`950`, `12.3k`, `4.5M`."""
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1e3:.1f}k" if number < 999_950 else f"{number / 1e6:,.1f}M"


def counted(number: int, noun: str) -> str:
    """`1 call`, `3 calls`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def tokens(usage: Usage) -> str:
    """`12.3k in (11.0k cached), 540 out`; empty when nothing is known."""
    if not usage.records:
        return ""
    cached = f" ({count(usage.cache_read_input_tokens)} cached)" if usage.cache_read_input_tokens else ""
    return f"{count(usage.input_tokens)} in{cached}, {count(usage.output_tokens)} out"


def money(cost: Cost) -> str:
    """What something cost: `≥` where a part of it has no price, `unknown` where nothing has one."""
    if cost.dollars is None:
        return "unknown" if cost.is_partial else ""
    dollars = round(cost.dollars, 6)
    text = f"${dollars:,.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.4f}"
    return f"≥ {text}" if cost.is_partial else text


def clock(timestamp: str) -> str:
    """The time of day in a timestamp; the timestamp itself where it has another form."""
    found = _CLOCK.match(timestamp)
    return found[1] if found else timestamp[:24]


def day(timestamp: str) -> str:
    """Day and minute, with the zone that the timestamp names."""
    found = _DAY.match(timestamp)
    if found is None:
        return timestamp[:40]
    zone = {"Z": " UTC", None: ""}.get(found[3], f" {found[3]}")
    return f"{found[1]} {found[2]}{zone}"
