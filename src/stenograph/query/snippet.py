"""Where a query was found in a text: a short piece around the first match, with the matches in it marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from msgspec import Struct

from stenograph.archive.index.words import spaced
from stenograph.query.language import LONGEST_PHRASE, Phrase

BEFORE, AFTER = 60, 140
"""Characters of a snippet before and after the match."""
_FOLDED = 200_000
"""Accents are ignored up to this character of a text; it takes a step per character."""
_GAP = re.compile(r"\s+")

Span = tuple[int, int]


class Snippet(Struct, frozen=True):
    """A piece of a text on one line, with `…` where the text was cut."""

    text: str
    spans: tuple[Span, ...] = ()
    """The matches in it: start and end, in order."""


class Snippets:
    """Cuts pieces out of texts, around the matches of one query."""

    def __init__(self, phrases: Sequence[Phrase]) -> None:
        self._whole = _pattern(phrases, is_whole=True)
        self._part = _pattern(phrases, is_whole=False)

    def of(self, text: str) -> Snippet:
        """The piece around the first match of one of the phrases; the beginning of the text where there is none."""
        first = next(self._spans(text), None) or next(self._spans(_folded(text[:_FOLDED])), None)
        at, to = first or (0, 0)
        start, end = max(0, at - BEFORE), min(len(text), to + AFTER)
        piece = text[start:end]
        spans = list(self._spans(piece)) or list(self._spans(_folded(piece)))
        return _on_one_line(piece, spans, "…" if start else "", "…" if end < len(text) else "")

    def _spans(self, text: str) -> Iterator[Span]:
        """Whole words; or, where there are none, the parts of names such as CamelCase."""
        pattern = self._whole if self._whole.search(text) else self._part
        for found in pattern.finditer(text):
            yield found.span()


def _pattern(phrases: Sequence[Phrase], *, is_whole: bool) -> re.Pattern[str]:
    choices = [_choice(phrase, is_whole) for phrase in phrases]
    return re.compile("|".join(choice for choice in choices if choice) or r"(?!)", re.IGNORECASE)


def is_in(phrase: Phrase, text: str) -> bool:
    """Whether all words of a phrase are in a text, next to one another."""
    return _chain(phrase) in _chain(Phrase(text))


def _chain(phrase: Phrase) -> str:
    """The words of a text, each between two separators, without accents and capitals."""
    return "\0".join(["", *Phrase(_folded(phrase.text)).words, ""]).lower()


def _choice(phrase: Phrase, is_whole: bool) -> str:
    words = [_folded(word) for word in phrase.words[:LONGEST_PHRASE]]
    text = r"[\W_]*".join(map(re.escape, words))
    end = r"[^\W_]*" if phrase.is_prefix else r"(?![^\W_])" if is_whole and _has_edges(words[-1]) else ""
    begin = r"(?<![^\W_])" if is_whole and _has_edges(words[0]) else ""
    return f"{begin}{text}{end}"


def _has_edges(word: str) -> bool:
    """Whether a word ends where its letters do; in scripts without spaces, a word is inside a row of letters."""
    return spaced(word) == word


def _folded(text: str) -> str:
    """The text without accents, letter by letter, so that positions in it are positions in the text."""
    return text if text.isascii() else "".join(normalize("NFD", letter)[0] for letter in text)


def _on_one_line(piece: str, spans: list[Span], before: str, after: str) -> Snippet:
    text = before
    placed: list[Span] = []
    done = 0
    for at, to in spans:
        text += _GAP.sub(" ", piece[done:at])
        start = len(text)
        text += _GAP.sub(" ", piece[at:to])
        placed.append((start, len(text)))
        done = to
    return Snippet(text + _GAP.sub(" ", piece[done:]) + after, tuple(placed))
