"""How a value may be written: in quotes, also escaped ones, or without."""

from __future__ import annotations

import re

VALUE = (
    r"(?:\\{0,7}+\"(?P<double>(?>(?:[^\"\\\n\[]|\[(?!masked:)){1,256}))"
    r"|\\{0,7}+'(?P<single>(?>(?:[^'\\\n\[]|\[(?!masked:)){1,256}))"
    r"|\\{0,7}+`(?P<back>(?>(?:[^`\\\n\[]|\[(?!masked:)){1,256}))"
    r"|(?P<bare>(?>(?:[^\s\"'`\\|;<>\[&]|&(?![\s&])|\[(?!masked:)){1,256})))"
)
"""The part of a pattern that matches a value, at most one in each; `value_span` reads the match. A value that is masked
already (`[masked:`) does not match."""

_STOPS = ").,}]:"
_OPENING = {")": "(", "}": "{", "]": "["}


def value_span(match: re.Match[str]) -> tuple[int, int]:
    """Where the value of a match begins and ends; a bracket or stop behind an unquoted one is not part of it."""
    if match["bare"] is None:
        return match.span(next(name for name in ("double", "single", "back") if match[name] is not None))
    start = match.start("bare")
    value = match["bare"]
    while len(value) > 1 and value[-1] in _STOPS and _OPENING.get(value[-1], "\n") not in value:
        value = value[:-1]
    return start, start + len(value)


def is_quoted(match: re.Match[str]) -> bool:
    """Whether the value is in quotes."""
    return match["bare"] is None
