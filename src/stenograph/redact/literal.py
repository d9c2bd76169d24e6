"""Strings inside JSON text: their places, names, and the mapping from their characters to those of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from stenograph.redact.name_value import labels_in
from stenograph.redact.span import Span

_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|[\[\]{},]|(?<![\w."+-])([0-9]{4,40}+)(?![\w.+-])', re.DOTALL)
_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_OF_PAIR = re.compile(r"(?:name|key|value|sameSite)\Z", re.IGNORECASE)
_SPELLED_LETTER = re.compile(r"\\+u00(?:0[9aAdD]|[2-7][0-9a-fA-F])|.", re.DOTALL)
_LETTER = re.compile(rf"{_PAIR}|\\u[0-9a-fA-F]{{4}}|\\.|.", re.DOTALL)


class Literal(NamedTuple):
    """A string in JSON text."""

    start: int
    end: int
    name: str | None = None
    """The key whose value it is, or whose list holds it; None for a key."""
    label: str | None = None
    """The name that the object gives this value in another field."""
    is_number: bool = False


def is_json(text: str) -> bool:
    """Whether the text is an object or a list in JSON, read as leniently as `model.mend` does."""
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
    """The strings of JSON text, keys included; the value of a pair once more, with its label, where its object ends."""
    name: str | None = None
    outer: list[str | None] = [None]
    objects: list[dict[str, tuple[int, int]]] = [{}]
    for match in _TOKEN.finditer(text):
        if match[3] is not None:
            yield Literal(*match.span(3), name, is_number=True)
        elif match[1] is None:
            if match[0] in "[{":
                outer.append(name if match[0] == "[" else None)
                objects.append({})
            elif match[0] != "," and len(outer) > 1:
                outer.pop()
                yield from _labelled(text, objects.pop())
            name = outer[-1]
        elif match[2]:
            name = decoded(match[1])
            yield Literal(*match.span(1))
        else:
            if name is not None and _OF_PAIR.search(name):
                objects[-1][name] = match.span(1)
            yield Literal(*match.span(1), name)


def string_lists(text: str) -> Iterator[list[tuple[int, int]]]:
    """The lists of JSON text that hold only strings, each as the spans of the insides of its strings."""
    lists: list[list[tuple[int, int]] | None] = []
    for match in _TOKEN.finditer(text):
        if match[3] is not None:
            continue
        if match[1] is None:
            if match[0] in "[{":
                if lists:
                    lists[-1] = None
                lists.append([] if match[0] == "[" else None)
            elif match[0] != "," and lists:
                items = lists.pop()
                if items and len(items) > 1:
                    yield items
        elif lists and not match[2]:
            innermost = lists[-1]
            if innermost is not None:
                innermost.append(match.span(1))


def _labelled(text: str, fields: dict[str, tuple[int, int]]) -> Iterator[Literal]:
    if len(fields) > 1:
        labels = labels_in({name: decoded(text[slice(*span)]) for name, span in fields.items()})
        yield from (Literal(*fields[name], name, label) for name, label in labels.items())


def decoded(inner: str) -> str:
    """The value of a JSON string, given its inside."""
    return str(json.loads(f'"{inner}"', strict=False)) if "\\" in inner else inner


def spelled_out(text: str) -> list[str]:
    """The characters of a text, each as it is written: a plain letter may be written as `\\u0041`."""
    return _SPELLED_LETTER.findall(text)


def letter_of(written: str) -> str:
    """The character that is written this way."""
    return chr(int(written[-4:], 16)) if len(written) > 1 else written


def in_source(inner: str, start: int, spans: list[Span]) -> Iterator[Span]:
    """Spans of a JSON string's value as spans of the text in which it begins at `start`; escapes stay whole."""
    if "\\" not in inner:
        return iter([Span(start + span.start, start + span.end, span.kind) for span in spans])
    return to_source(_LETTER.findall(inner), start, spans)


def to_source(letters: list[str], start: int, spans: list[Span]) -> Iterator[Span]:
    """Spans of characters as spans of the text in which they are written from `start` on."""
    at = list(accumulate(map(len, letters), initial=start))
    return (Span(at[span.start], at[span.end], span.kind) for span in spans)
