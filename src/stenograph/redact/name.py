"""Names: which ones say that their value is a secret, and how surely."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple


class Grade(IntEnum):
    """How surely a name says that its value is secret."""

    WEAK = 1
    """Only a value that looks random is one (`cache_key`, `auth_state`)."""
    FAIR = 2
    """A value that is no plain word is one (`token`, `auth`)."""
    SURE = 3
    """Whatever stands there is one (`password`, `client_secret`)."""


class Secret(NamedTuple):
    """What a name promises about its value."""

    kind: str
    grade: Grade


KEYWORDS = {
    "key": r"key(?!s\b|words?\b|board)",
    "token": r"token(?!s\b)",
    "secret": r"secret(?!s\b)",
    "pass": r"pass(?:w|phrase|code|(?<=_pass)(?![a-z]))",
    "pwd": r"pwd",
    "credential": r"credential",
    "auth": r"auth(?!or(?!i[sz]))",
    "cookie": r"cookie(?!s\b)",
}
"""Words that every name of a secret holds, each with the pattern that tells it from its neighbours (small letters)."""

_IDENTIFIER = re.compile(
    r"(?:parent|child)?(?:tool|call|tooluse|toolcall|message|session|conversation|thread|turn|run)id"
    r"|(?:item|response|request|prompt|agent)id|(?:parent|leaf)?uuid|sha256"
)
"""Fields that join records to one another; whatever they hold, they are never touched."""

_SURE = (
    ("secretaccesskey", "aws-secret-key"),
    ("accountkey", "azure-key"),
    ("sharedaccesskey", "azure-key"),
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("pwd", "password"),
    ("apikey", "api-key"),
    ("authkey", "api-key"),
    ("accesskey", "api-key"),
    ("subscriptionkey", "api-key"),
    ("secret", "secret"),
    ("secretkey", "secret"),
    ("privatekey", "private-key"),
    ("signingkey", "secret"),
    ("encryptionkey", "secret"),
    ("masterkey", "secret"),
    ("authorization", "authorization"),
    ("cookie", "cookie"),
)
_FAIR = {"token": "token", "auth": "credential", "credential": "credential", "credentials": "credential"}
_OF_TOKENS = re.compile(
    r"next|prev|previous|first|last|current|page|continuation|cursor|sync|resume|cancel|cancellation"
    r"|max|min|num|per|eos|bos|pad|unk|sep|cls|mask|stop|special"
)
"""What stands before `token` where it means a word, a place in a list or a signal."""
_ABOUT = re.compile(
    r"ids?|names?|types?|counts?|paths?|files?|tokens|usage|url|uri|dir|length|size|limit|field|kind|mode|source|status"
    r"|error|expires|expiry|expiration|at|in|format|header|prefix|suffix|method|provider|scope|index|required|enabled"
    r"|hint|label|title"
)
"""Last words that turn a name into one about a secret, whose value is none itself."""
_VARIANTS = re.compile(
    r"confirm|confirmation|again|repeat|old|new|current|previous|prod|production|dev|development|test|staging"
    r"|base|value|default|ro|rw|primary|secondary"
)
"""Last words that do not change what a name is about."""

_KEYWORD = re.compile("|".join(KEYWORDS.values()), re.ASCII)
_ENDS_NAME = re.compile(rf"(?:{_KEYWORD.pattern})[\w-]{{0,60}}+\Z", re.ASCII)
"""Only letters may follow the keyword, as the hints expect it."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_SPELLED = re.compile(r"[ -~]{1,100}", re.ASCII)


@lru_cache(maxsize=4096)
def is_identifier(name: str) -> bool:
    """Whether a field of this name joins records and must stay as it is."""
    return _IDENTIFIER.fullmatch(name.lower().replace("_", "").replace("-", "")) is not None


def holds_keyword(text: str) -> bool:
    """Whether a word for secrets stands in a name or value."""
    return _KEYWORD.search(text.lower()) is not None


@lru_cache(maxsize=4096)
def secret_of(name: str) -> Secret | None:
    """What a name promises about its value, or None when it promises nothing."""
    if not _SPELLED.fullmatch(name) or not _ENDS_NAME.search(name.lower()):
        return None
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and _VARIANTS.fullmatch(words[-1]):
        words.pop()
    if not words or _ABOUT.fullmatch(words[-1]) or words in (["pwd"], ["oldpwd"]):
        return None
    return _by_ending(words, name) or Secret("high-entropy", Grade.WEAK)


def _by_ending(words: list[str], name: str) -> Secret | None:
    """What the last words of a name promise."""
    compact = "".join(words)
    for ending, kind in _SURE:
        if compact.endswith(ending):
            return Secret(kind, Grade.SURE)
    if words[-1] == "pass" and name.isupper():
        return Secret("password", Grade.SURE)
    if compact in _FAIR:
        return Secret(_FAIR[compact], Grade.FAIR)
    if compact.endswith("token"):
        return None if any(map(_OF_TOKENS.fullmatch, words)) else Secret("token", Grade.SURE)
    return None
