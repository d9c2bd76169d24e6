"""Strings inside JSON text: where they stand, under which name, and which of their letters is which of the text's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from stenograph.redact.span import Span

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|[\[\]{},]', re.DOTALL)
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LETTER = re.compile(rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\.|.", re.DOTALL)


class Literal(NamedTuple):
    """A string that is a value in JSON text."""

    start: int
    end: int
    name: str | None
    """The key whose value it is, or whose list it stands in."""


def is_json(text: str) -> bool:
    """Whether the text is an object or a list in JSON, as leniently read as `model.mend` reads."""
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text, strict=False, parse_int=str)
    except RecursionError:
        return True  # as far as could be read
    except ValueError:
        return False
    return True


def literals(text: str) -> Iterator[Literal]:
    """The strings of JSON text that are values; keys are left alone."""
    name: str | None = None
    outer: list[str | None] = [None]
    for match in _TOKEN.finditer(text):
        if match[1] is None:
            if match[0] in "[{":
                outer.append(name if match[0] == "[" else None)
            elif match[0] != "," and len(outer) > 1:
                outer.pop()
            name = outer[-1]
        elif match[2]:
            name = decoded(match[1])
        else:
            yield Literal(*match.span(1), name)


def decoded(inner: str) -> str:
    """What the inside of a JSON string says."""
    return str(json.loads(f'"{inner}"', strict=False)) if "\\" in inner else inner


def to_source(inner: str, start: int, spans: list[Span]) -> Iterator[Span]:
    """Spans of what a string says as spans of the text in which it begins at `start`, escapes kept whole."""
    if "\\" not in inner:
        yield from (Span(start + span.start, start + span.end, span.kind) for span in spans)
        return
    at = list(accumulate((len(letter) for letter in _LETTER.findall(inner)), initial=start))
    yield from (Span(at[span.start], at[span.end], span.kind) for span in spans)
