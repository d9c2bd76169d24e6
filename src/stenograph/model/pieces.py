"""JSON of values with long texts, in pieces: the whole of it is never in memory at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

LONG = 1 << 20
"""Texts of at least this many characters are written in pieces."""
_PIECE = 1 << 16
_encode = msgspec.json.encode
_LEAVES = (str, int, float, bool, type(None), UUID)


def text_pieces(text: str) -> Iterator[bytes]:
    """A JSON string."""
    yield b'"'
    for start in range(0, len(text), _PIECE):
        yield _encode(text[start : start + _PIECE])[1:-1]
    yield b'"'


def json_pieces(value: Any) -> Iterator[bytes]:
    """The JSON of a value, as msgspec writes it; `is_plain` must hold for the value."""
    if isinstance(value, str):
        if len(value) < LONG:
            yield _encode(value)
        else:
            yield from text_pieces(value)
    elif isinstance(value, dict):
        yield b"{"
        for place, (name, each) in enumerate(value.items()):
            yield (b"," if place else b"") + _encode(name) + b":"
            yield from json_pieces(each)
        yield b"}"
    elif isinstance(value, list | tuple):
        yield b"["
        for place, each in enumerate(value):
            if place:
                yield b","
            yield from json_pieces(each)
        yield b"]"
    else:
        yield _encode(value)


def has_long_text(value: Any) -> bool:
    """Whether an object has a long text among its own values; nested values do not count."""
    if isinstance(value, dict):
        for each in value.values():  # a loop, because every entry of a run is asked
            if each.__class__ is str and len(each) >= LONG:
                return True
    return False


def is_plain(value: Any, depth: int = 100) -> bool:
    """Whether all of a value can be written as JSON, without lone surrogates, down to some depth."""
    if value.__class__ in _LEAVES:
        return not isinstance(value, str) or _is_writable(value)
    if depth == 0:
        return False
    if value.__class__ is dict:
        return all(
            name.__class__ is str and is_plain(name) and is_plain(each, depth - 1) for name, each in value.items()
        )
    return value.__class__ in (list, tuple) and all(is_plain(each, depth - 1) for each in value)


def _is_writable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        for start in range(0, len(text), _PIECE):
            text[start : start + _PIECE].encode()
    except UnicodeEncodeError:
        return False
    return True
