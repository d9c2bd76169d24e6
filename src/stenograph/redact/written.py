"""How a value may be written: in quotes, also escaped ones, or bare."""

from __future__ import annotations

import re

VALUE = (
    r"(?:\\{0,7}+\"(?P<double>(?:[^\"\\\n\[]|\[(?!masked:)){1,256}+)"
    r"|\\{0,7}+'(?P<single>(?:[^'\\\n\[]|\[(?!masked:)){1,256}+)"
    r"|\\{0,7}+`(?P<back>(?:[^`\\\n\[]|\[(?!masked:)){1,256}+)"
    r"|(?P<bare>(?:[^\s\"'`\\|;<>\[&]|&(?![\s&])|\[(?!masked:)){1,256}+))"
)
"""A value; once in a pattern, and read by `value_span`."""

_STOPS = ").,}]:"


def value_span(match: re.Match[str]) -> tuple[int, int]:
    """Where the value of a match begins and ends; a bracket or stop behind a bare one is not part of it."""
    if match["bare"] is None:
        return match.span(next(name for name in ("double", "single", "back") if match[name] is not None))
    start, end = match.span("bare")
    return start, start + len(match["bare"].rstrip(_STOPS)) or end


def is_quoted(match: re.Match[str]) -> bool:
    """Whether the value stands in quotes."""
    return match["bare"] is None
