"""Hints: the cheap look that lets harmless text pass.

A hint must be seen in every text in which a rule would find something, also when that text stands escaped inside JSON;
it may be seen in others. So nothing here depends on quotes or on how line ends are written.
"""

from __future__ import annotations

import re

from stenograph.redact.name import KEYWORDS
from stenograph.redact.rules import Rules, built_in

_SIGN = r"[\w-]{0,60}+[\s\\\"'`\]t?]{0,40}+[:=](?!\s{0,9}(?:\{|(?:null|true|false)[,}\]](?!\w)))"
_NO_NUMBER = r"(?!\s{0,9}[0-9.]{1,40}[,}\]](?!\w))"
_MAYBE_NUMBERS = ("pass", "pwd")
_SHORTEST = len("_PASS=x")


def _shapes() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    """What shows by itself: a rare letter of it, a literal in it, and how it looks."""
    return (
        ("K", "PRIVATE KEY", re.compile(r"PRIVATE KEY", re.ASCII)),
        ("-", "curl", re.compile(r"-(?:[uU]|-user|-proxy-user)", re.ASCII)),
        ("@", "@", re.compile(r"://[^\s/@]*+@", re.ASCII)),
    )


_SHAPES = _shapes()
_NAMES = tuple(
    (word, re.compile(pattern + _SIGN + ("" if word in _MAYBE_NUMBERS else _NO_NUMBER), re.ASCII))
    for word, pattern in KEYWORDS.items()
)
_LABEL = re.compile(
    rf"(?:name|key)[\s\\\"'`]{{0,20}}+(?:=>|[:=])[\s\\\"'`]{{0,20}}+[\w.-]{{0,60}}?(?:{'|'.join(KEYWORDS.values())})",
    re.ASCII,
)
"""A field that holds the name of a secret, whose value is in another."""
_ESCAPED = re.compile(r"\\u00[2-7]")
"""A letter that nobody needs to escape: what it is part of shows only when it is read."""
_FLAG = re.compile(rf"--[\w-]{{0,60}}?(?:{'|'.join(KEYWORDS.values())})[\w-]{{0,60}}+ ", re.ASCII)
_BEARER = re.compile(r"bearer(?:[ +%]|\t|\\t)", re.ASCII)


def may_hold_secret(text: str, rules: Rules | None = None) -> bool:
    """Whether it is worth looking for secrets in a text; the rules are those that we ship, unless others are given."""
    if len(text) < _SHORTEST:
        return False
    if (rules or built_in()).may_find(text):
        return True
    for rare, literal, pattern in _SHAPES:
        if rare in text and literal in text and pattern.search(text):
            return True
    small = text.lower()
    has_word = False
    for word, pattern in _NAMES:
        if word in small:
            has_word = True
            if pattern.search(small):
                return True
    if has_word and "--" in small and _FLAG.search(small):
        return True
    if has_word and "value" in small and _LABEL.search(small):
        return True
    if "\\u00" in text and _ESCAPED.search(text):
        return True
    return "bearer" in small and _BEARER.search(small) is not None
