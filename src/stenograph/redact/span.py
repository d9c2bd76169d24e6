"""Spans: where in a text a secret is, and the mark that replaces it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

MARK_START = "[masked:"
"""How every mark begins; no rule may find a secret in a value that holds this, or masking twice would differ."""


class Span(NamedTuple):
    """The part of a text that is secret."""

    start: int
    end: int
    kind: str
    is_number: bool = False
    """Whether it is a number of JSON text, which must be replaced by a string."""


def merge(spans: Iterable[Span]) -> list[Span]:
    """Disjoint spans in order; where some overlap, the longest names the kind and the first one breaks ties."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
            continue
        kind = span.kind if span.end - span.start > last.end - last.start else last.kind
        merged[-1] = Span(last.start, max(last.end, span.end), kind)
    return merged


def cut(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark in place of every span; the spans are disjoint and in order."""
    pieces: list[str] = []
    done = 0
    for start, end, kind, is_number in spans:
        quote = '"' if is_number else ""
        pieces += (text[done:start], quote, MARK_START, kind, "]", quote)
        done = end
    return "".join((*pieces, text[done:]))
