"""Hints: the cheap look that lets harmless text pass.

A hint must be seen in every text in which a rule would find something, also when that text stands escaped inside JSON;
it may be seen in others. So nothing here depends on quotes, on line ends or on what precedes a word.
"""

from __future__ import annotations

import re

from stenograph.redact.name import KEYWORDS
from stenograph.redact.provider import TOKENS

_AFTER_NAME = r"(?!s[\"\\]+:)[\w-]{0,44}+[\s\\\"'`\]t?]{0,40}+[:=]"
_NOT_NAMES = {"token": r"(?!s\b)", "auth": r"(?!ors?\b)"}


def _by_letters() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What to look for with capitals as they stand: a literal, and what must follow it."""
    prefixes = {token.prefix for token in TOKENS}
    shortest = sorted(
        prefix for prefix in prefixes if not any(prefix != other and prefix.startswith(other) for other in prefixes)
    )
    tokens = [(prefix, re.compile(re.escape(prefix) + r"[\w-]{8}", re.ASCII)) for prefix in shortest]
    others = [
        ("PRIVATE KEY", r"-----BEGIN [A-Z0-9 ]{0,90}PRIVATE KEY"),
        ("hooks.slack.com/", r"hooks\.slack\.com/"),
        ("://", r"://[^\s/@]*+@"),
    ]
    return (*tokens, *((literal, re.compile(pattern, re.ASCII)) for literal, pattern in others))


def _by_small_letters() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What to look for in small letters: names with a sign behind them, flags, bearer tokens."""
    names = [(word, re.compile(word + _NOT_NAMES.get(word, "") + _AFTER_NAME, re.ASCII)) for word in KEYWORDS]
    flag = re.compile(rf"--[\w-]{{0,60}}?(?:{'|'.join(KEYWORDS)})[\w-]{{0,60}}+ ", re.ASCII)
    return (*names, ("--", flag), ("bearer", re.compile(r"bearer[^a-z]", re.ASCII)))


_LETTERS = _by_letters()
_SMALL_LETTERS = _by_small_letters()


def may_hold_secret(text: str) -> bool:
    """Whether it is worth looking for secrets in a text."""
    for literal, pattern in _LETTERS:
        if literal in text and pattern.search(text):
            return True
    small = text.lower()
    return any(literal in small and pattern.search(small) for literal, pattern in _SMALL_LETTERS)
