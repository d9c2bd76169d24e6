"""Pairs: a name and its value in two fields, as in `{"name": "DB_PASSWORD", "value": "…"}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from stenograph.redact.assignment import believes, value_parts
from stenograph.redact.header import parts_of
from stenograph.redact.name import secret_of
from stenograph.redact.span import Span
from stenograph.redact.unquoted import ValuePlace

_VALUE = "value"
_LABELS = ("name", "key")
_OF_COOKIES = ("httpOnly", "sameSite", "hostOnly")
_LONGEST_LABEL = 100

_quote = r"(?:\\{0,7}+[\"'`])?"
_sign = r"[ \t]{0,8}+(?:=>|[:=])[ \t]{0,8}+"
_gap = r"(?:[\s,;]|\\+[nrt]){1,60}?"
_PAIR = re.compile(
    rf"(?:name|key){_quote}{_sign}{_quote}(?P<label>[a-z][\w.-]{{1,80}}+){_quote}{_gap}"
    rf"{_quote}[\w-]{{0,20}}?value{_quote}{_sign}",
    re.ASCII,
)


def labels_in(fields: Mapping[Any, Any]) -> dict[Any, str]:
    """The keys of an object that hold the value of a pair, each with the name that the object gives it."""
    found: dict[Any, str] = {}
    for key, item in fields.items():
        if isinstance(item, str) and isinstance(key, str) and key.lower().endswith(_VALUE):
            label = "session_token" if _is_cookie(key, fields) else _label(key[: -len(_VALUE)], fields)
            if label is not None:
                found[key] = label
    return found


def _is_cookie(key: str, fields: Mapping[Any, Any]) -> bool:
    """Whether an object is a cookie, as browsers list them: its name says little, and its value lets one in."""
    return key == _VALUE and "name" in fields and any(field in fields for field in _OF_COOKIES)


def _label(prefix: str, fields: Mapping[Any, Any]) -> str | None:
    for word in _LABELS:
        for spelled in (word, word.capitalize(), word.upper()):
            label = fields.get(prefix + spelled)
            if isinstance(label, str):
                return label
    return None


def labelled(label: str, value: str) -> Iterable[Span]:
    """The secret parts of a value that a pair gives this name."""
    secret = secret_of(label) if len(label) <= _LONGEST_LABEL else None
    if secret is None or not believes(value, label, secret):
        return []
    return parts_of(secret.kind, value, 0, len(value))


def pairs(text: str, small: str) -> Iterator[Span]:
    """The values of pairs in a text, where they are behind the name; `small` is the text in small letters."""
    if _VALUE not in small:
        return
    for match in _PAIR.finditer(small):
        label = text[slice(*match.span("label"))]
        place = ValuePlace(label, match.start("label"), ": ", "", quoted_name=True)
        yield from value_parts(text, match.end(), len(text), place)
