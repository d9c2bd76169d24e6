"""The search language: words, "phrases", prefix*, AND, OR, NOT and brackets, translated to FTS5.

Theory of operation. Words in a row must all be there. A word is everything between two spaces, so code can be typed
as it is: `foo.bar()` and `path/to/file.py` mean the words in them, in that order. Hence a bracket groups only where it
begins a word, or closes a group that did; all others belong to their words. Operators are in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from stenograph.archive.index.words import parts_of_name, spaced
from stenograph.errors import InvalidQuery

DEEPEST = 50
MOST_WORDS = 200
LONGEST_PHRASE = 64
"""The most words of a phrase that are passed to the index: it takes a step per word for each text that has some."""
_OPERATORS = {"AND", "OR", "NOT"}


class Phrase(Struct, frozen=True):
    """Words next to one another, in this order."""

    text: str
    is_prefix: bool = False
    """Whether the last word may be the beginning of a longer one."""

    @property
    def words(self) -> list[str]:
        """The words that are searched: letters and digits; characters of scripts without spaces one by one."""
        return re.findall(r"[^\W_]+", spaced(self.text))

    @property
    def is_long(self) -> bool:
        """Whether it is longer than the index accepts at once."""
        return len(self.text) > LONGEST_PHRASE and len(self.words) > LONGEST_PHRASE


class Query(Struct, frozen=True):
    """A parsed query."""

    match: str
    """The query in FTS5 syntax."""
    phrases: tuple[Phrase, ...]
    """The phrases that a hit may have, without those that NOT excludes."""
    long: tuple[Phrase, ...] = ()
    """Phrases that `match` holds only the beginning of: each must be searched for in the texts that it finds."""


class _Token(Struct, frozen=True):
    kind: str
    """`phrase`, `(`, `)`, or an operator."""
    phrase: Phrase | None = None


def parse_query(text: str) -> Query:
    """Parse what a person typed; raises `InvalidQuery` with what is wrong with it."""
    tokens = list(_Lexer(text).tokens())
    if not tokens:
        raise InvalidQuery("there is nothing to search for; give a word")
    if len(tokens) > MOST_WORDS:
        raise InvalidQuery(f"the query has more than {MOST_WORDS} words; give fewer")
    parser = _Parser(tokens)
    match = parser.whole()
    long = tuple(token.phrase for token in tokens if token.phrase is not None and token.phrase.is_long)
    if long and not {token.kind for token in tokens} <= {"phrase", "AND"}:
        message = f"a phrase of more than {LONGEST_PHRASE} words does not go with OR, NOT and brackets; shorten it"
        raise InvalidQuery(message)
    return Query(match, tuple(parser.phrases), long)


class _Lexer:
    """Cuts a query into phrases, brackets and operators."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._groups = 0
        self._loose = 0
        """Brackets that words left open: what closes them belongs to words, too."""

    def tokens(self) -> Iterator[_Token]:
        text = self._text
        while self._at < len(text):
            letter = text[self._at]
            if letter.isspace():
                self._at += 1
            elif letter == '"':
                yield self._quoted()
            elif letter == "(":
                self._groups += 1
                self._at += 1
                yield _Token("(")
            elif letter == ")":
                self._at += 1
                if self._loose:
                    self._loose -= 1
                else:
                    yield self._closing()
            else:
                yield self._word()

    def _closing(self) -> _Token:
        if not self._groups:
            raise InvalidQuery("a ) closes nothing; take it out, or put the words in quotes")
        self._groups -= 1
        return _Token(")")

    def _quoted(self) -> _Token:
        end = self._text.find('"', self._at + 1)
        if end < 0:
            raise InvalidQuery('a " is never closed; put one at the end of the phrase')
        phrase = self._text[self._at + 1 : end]
        self._at = end + 1
        is_prefix = self._text.startswith("*", self._at)
        self._at += is_prefix
        return _Token("phrase", _checked(Phrase(phrase, is_prefix)))

    def _word(self) -> _Token:
        start, inner = self._at, 0
        while self._at < len(self._text) and not (letter := self._text[self._at]).isspace() and letter != '"':
            if letter == "(":
                inner += 1
            elif letter == ")" and inner:
                inner -= 1
            elif letter == ")" and self._loose:
                self._loose -= 1
            elif letter == ")":
                break
            self._at += 1
        self._loose += inner
        word = self._text[start : self._at]
        if word in _OPERATORS:
            return _Token(word)
        return _Token("phrase", _checked(Phrase(word.rstrip("*"), word.endswith("*"))))


def _checked(phrase: Phrase) -> Phrase:
    if not phrase.words:
        raise InvalidQuery(f"there is no word in {phrase.text!r}; search finds letters and digits")
    return phrase


class _Parser:
    """Reads tokens by precedence: NOT before AND before OR."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self.phrases: list[Phrase] = []

    def whole(self) -> str:
        return self._either(0)

    def _kind(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""

    def _either(self, depth: int) -> str:
        if depth > DEEPEST:
            raise InvalidQuery(f"the query has brackets more than {DEEPEST} deep; flatten it")
        parts = [self._all(depth)]
        while self._kind() == "OR":
            self._at += 1
            parts.append(self._all(depth))
        return _joined(parts, " OR ")

    def _all(self, depth: int) -> str:
        """Words in a row, with or without AND; those after NOT must not be there."""
        wanted: list[str] = []
        unwanted: list[str] = []
        is_due = True
        while is_due or self._kind() in {"phrase", "(", "NOT"}:
            is_not = self._kind() == "NOT"
            if is_not:
                self._at += 1
            known = len(self.phrases)
            (unwanted if is_not else wanted).append(self._one(depth))
            if is_not:
                del self.phrases[known:]
            is_due = self._kind() == "AND"
            self._at += is_due
        if not wanted:
            raise InvalidQuery(
                "NOT excludes from what is found, and nothing is searched for here; give a word before it"
            )
        if not unwanted:
            return _joined(wanted, " AND ")
        return f"({_joined(wanted, ' AND ')} NOT {_joined(unwanted, ' OR ')})"

    def _one(self, depth: int) -> str:
        kind = self._kind()
        if kind not in {"phrase", "("}:
            where = f"before {kind}" if kind else "at the end"
            raise InvalidQuery(f"a word is missing {where}; put AND, OR and NOT in quotes to search for them")
        token = self._tokens[self._at]
        self._at += 1
        if token.phrase is not None:
            self.phrases.append(token.phrase)
            return _quoted(token.phrase)
        inside = self._either(depth + 1)
        if self._kind() != ")":
            raise InvalidQuery("a ( is never closed; put a ) at the end of the group, or the words in quotes")
        self._at += 1
        return inside


def _joined(parts: list[str], operator: str) -> str:
    return parts[0] if len(parts) == 1 else f"({operator.join(parts)})"


def _quoted(phrase: Phrase) -> str:
    """A phrase in FTS5 syntax; some parts of a CamelCase name are indexed as words in a row."""
    if phrase.is_long:
        return f'"{" ".join(phrase.words[:LONGEST_PHRASE])}"'
    texts = [phrase.text, *parts_of_name(phrase.text)]
    # The index cuts a phrase into words by itself.
    quoted = [f'"{_NO_PART.sub(" ", spaced(text))}"{"*" if phrase.is_prefix else ""}' for text in texts]
    return _joined(quoted, " OR ")


_NO_PART = re.compile(r'["\0]')
