"""Numbers and times as people read them."""

from __future__ import annotations

from stenograph.model.moment import moment_of

_STEPS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def amount(number: int) -> str:
    """A number in three figures: `999`, `12.3k`, `4.56M`."""
    for size, unit in _STEPS:
        if number >= size * 0.9995:
            scaled = number / size
            return f"{scaled:.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f}{unit}"
    return str(number)


def duration(seconds: float) -> str:
    """How long something took: `840 ms`, `4.2 s`, `42 s`, `3 m 05 s`, `2 h 10 m`, `3 d 4 h`."""
    whole = round(seconds)
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if whole < 10:
        return f"{seconds:.1f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} m"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def when(timestamp: str | None) -> str:
    """A moment in local time, to the minute; what cannot be read as one stays as it is."""
    moment = None if timestamp is None else moment_of(timestamp)
    return (timestamp or "") if moment is None else f"{moment.astimezone():%Y-%m-%d %H:%M}"


def cost(dollars: float | None, is_partial: bool) -> str:
    """What something cost: `≥` where a part of it has no price, `unknown` where nothing has one."""
    if dollars is None:
        return "unknown" if is_partial else ""
    text = f"${dollars:,.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.4f}"
    return f"≥ {text}" if is_partial else text


def bar(share: float, width: int) -> str:
    """A bar that fills this share of a width, to an eighth of a character."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()
