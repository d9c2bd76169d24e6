"""Numbers and times for people, on the terminal and on the page: durations, amounts, tokens, costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stenograph.model.moment import moment_of

if TYPE_CHECKING:
    from stenograph.fold.usage import Usage

_STEPS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_EIGHTHS = " ▏▎▍▌▋▊▉█"

_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ](\d\d:\d\d:\d\d)")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)


def duration(seconds: float) -> str:
    """How long something took: `840 ms`, `4.2 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`."""
    whole = round(seconds)
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if whole < 10:
        return f"{seconds:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400:,} d {whole % 86400 // 3600} h"


def amount(number: int) -> str:
    """A number in full up to 10,000, then in three figures: `9,999`, `12.3k`, `4.56M`."""
    if number < 10_000:
        return f"{number:,}"
    for size, unit in _STEPS:
        if number >= size * 0.9995:
            scaled = number / size
            return f"{scaled:,.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f}{unit}"
    raise AssertionError(number)


def counted(number: int, noun: str) -> str:
    """`1 call`, `3 calls`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def tokens(usage: Usage) -> str:
    """`12.3k in (11.0k cached), 540 out`; empty when nothing is known."""
    if not usage.records:
        return ""
    cached = f" ({amount(usage.cache_read_input_tokens)} cached)" if usage.cache_read_input_tokens else ""
    return f"{amount(usage.input_tokens)} in{cached}, {amount(usage.output_tokens)} out"


def clock(timestamp: str) -> str:
    """The time of day in a timestamp; the timestamp itself where it has another form."""
    found = _CLOCK.match(timestamp)
    return found[1] if found else timestamp[:24]


def local_clock(timestamp: str) -> str:
    """The time of day of a moment, in local time; as `clock` where it cannot be read as one."""
    moment = moment_of(timestamp)
    return clock(timestamp) if moment is None else f"{moment.astimezone():%H:%M:%S}"


def day(timestamp: str) -> str:
    """Day and minute, with the zone that the timestamp names."""
    found = _DAY.match(timestamp)
    if found is None:
        return timestamp[:40]
    zone = {"Z": " UTC", None: ""}.get(found[3], f" {found[3]}")
    return f"{found[1]} {found[2]}{zone}"


def when(timestamp: str | None) -> str:
    """A moment in local time, to the minute; a text that cannot be read as one stays unchanged."""
    moment = None if timestamp is None else moment_of(timestamp)
    return (timestamp or "") if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M}"


def cost(dollars: float | None, is_partial: bool) -> str:
    """A cost: `≥` where a part of it has no price, `unknown` where nothing has one."""
    if dollars is None:
        return "unknown" if is_partial else ""
    dollars = round(dollars, 6)  # as in JSON, so that a sum looks the same however it was added up
    text = f"${dollars:,.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.4f}"
    return f"≥ {text}" if is_partial else text


def cost_words(dollars: float | None, is_partial: bool) -> str:
    """`cost`, for a place where nothing else says that it is a cost."""
    text = cost(dollars, is_partial)
    return f"cost {text}" if text == "unknown" else text


def bar(share: float, width: int) -> str:
    """A bar that fills this share of a width, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
