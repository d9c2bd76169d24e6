"""Values that were masked once: they are masked everywhere, also without a name, while the same mask is used.

Words and short values are not remembered: after `PASSWORD=postgres`, the word would be masked in every sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.span import MARK_START, Span

_RUN = re.compile(r"[A-Za-z0-9]{3,}+", re.ASCII)
_LETTER_OR_DIGIT = re.compile(r"[A-Za-z0-9]", re.ASCII)
_SHORTEST, _LONGEST = 6, 512
_LONG_WORD = 12
_MOST = 10_000
"""The most values that are remembered; a run with more has a list of them, whose shapes or names are found anyway."""
_PLAIN_KINDS = frozenset(("cookie", "signature", "private-key", "named-secret"))


class Memory:
    """The values that were masked, by the first run of letters and digits in each."""

    def __init__(self) -> None:
        self._values: dict[str, set[tuple[int, str, str]]] = {}
        self._count = 0

    def learn(self, text: str, spans: list[Span]) -> None:
        """Remember the text of spans in a text that was not masked yet."""
        for start, end, kind, _ in spans:
            value = text[start:end]
            if kind not in _PLAIN_KINDS and self._count < _MOST and _is_worth_it(value):
                run = _RUN.search(value)
                if run is not None:
                    known = self._values.setdefault(run[0], set())
                    self._count += (run.start(), value, kind) not in known
                    known.add((run.start(), value, kind))

    def may_find(self, text: str) -> bool:
        """Whether one of the values may be in a text, also when the text is escaped inside JSON."""
        return bool(self._values) and not self._values.keys().isdisjoint(_RUN.findall(text))

    def spans(self, text: str) -> Iterator[Span]:
        """Where the values are, as separate words."""
        if not self._values:
            return
        for match in _RUN.finditer(text):
            for offset, value, kind in self._values.get(match[0], ()):
                start = match.start() - offset
                if start >= 0 and text.startswith(value, start) and _is_alone(text, start, start + len(value)):
                    yield Span(start, start + len(value), kind)


def _is_worth_it(value: str) -> bool:
    if not _SHORTEST <= len(value) <= _LONGEST or MARK_START in value or judge.is_placeholder(value):
        return False
    if judge.is_words(value):
        return len(value) >= _LONG_WORD and " " not in value and not value.islower() and not value.isupper()
    return judge.looks_mixed(value)


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a value is not part of a longer word."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    begins = not (_LETTER_OR_DIGIT.match(before) and _LETTER_OR_DIGIT.match(text[start])) or _is_escape(text, start)
    return begins and not (_LETTER_OR_DIGIT.match(after) and _LETTER_OR_DIGIT.match(text[end - 1]))


def _is_escape(text: str, start: int) -> bool:
    return text[max(0, start - 2) : start] in ("\\n", "\\t", "\\r")
