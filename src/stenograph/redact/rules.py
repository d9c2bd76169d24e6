"""Rules: the shapes of issued tokens, as data, and the search that finds them fast.

Theory of operation. Every token holds a run of letters, digits, `_`, `-` and `.` that is longer than most words. So a
text is first mapped to runs, in one pass of C, and only in and right around the long ones are the keywords of all rules
searched for, by one expression. A rule's own pattern runs only where one of its keywords is.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from stenograph.errors import InvalidRule
from stenograph.redact.pattern import check_pattern
from stenograph.redact.span import Span

_SHORTEST_RUN = 15
_TOKEN_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_AS_RUNS = bytes(120 if byte in _TOKEN_LETTERS else 32 for byte in range(256))
_RUN = b"x" * _SHORTEST_RUN
_OF_DIGESTS = b"0123456789abcdef-nrt"
"""The letters of digests and UUIDs, and those that end the escape of a line end."""
_BEFORE_DIGEST = b"\"'`\\\n,([{"
_BEFORE, _AFTER = 12, 4
"""Characters around a run in which a keyword may begin or end, such as the colon of `:AA`."""
_FAR_BEFORE, _FAR_AFTER = 100, 500
"""Characters around a run that are expected to hold a whole token, for the check whether a search is worth it."""
_ENOUGH_CHECKS = 12
_WINDOW, _OVERLAP = 2048, 512
"""Characters that a user's pattern gets at once, so that a greedy pattern cannot make the time grow faster."""

_HEAD = re.compile(r"(?:[A-Za-z0-9_/:=@$-](?![?*+{])|\\[.$|+])*", re.ASCII)
_BLANKED = re.compile(r"x{8}|X{8}|\*{4}|0{12}|\.{3}|…|^[xX*._0-]*$", re.ASCII)
_LONG_PART = re.compile(r"[A-Za-z0-9]{20}|[0-9]", re.ASCII)
_LETTERS = {
    "a": "aB3dE6gH1jK4mN7pQ0sT5vX8yZ2cF9",
    "A": "AB3DE6GH2JK4MN7PQ5ST8VX9YZ",
    "b": "ab3de6gh1jk4mn7pq0st5vx8yz2cf9",
    "h": "0a1b2c3d4e5f6978",
    "d": "1234567890",
    "w": "aB3dE6gH1jK4mN7pQ0sT5_vX8yZ2cF9-",
    "n": "q3pzry9x8gf2tvdw0s3jn54khce6mua7l",
}
_TEMPLATE = re.compile(rf"\{{([{''.join(_LETTERS)}]):([0-9]{{1,3}})\}}", re.ASCII)
_FIELDS = {"name", "about", "keyword", "pattern", "example", "counter", "anywhere"}
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}", re.ASCII)


class Rule:
    """One shape of token."""

    def __init__(
        self, name: str, pattern: str, keywords: tuple[str, ...], about: str, example: str, counter: str, anywhere: bool
    ) -> None:
        self.name = name
        self.pattern = pattern
        self.keywords = keywords
        """One of them is in every such token."""
        self.about = about
        self.example = example
        self.counter = counter
        self.anywhere = anywhere
        """Whether it may begin inside a word."""
        self.is_bounded = False
        """Whether a text is searched for it part by part."""
        self.shows_unescaped = "/" not in pattern
        """Whether it looks the same inside JSON, where some writers put a backslash before a slash."""

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """The pattern, with an edge that keeps it from beginning inside a word; compiled on first use."""
        head_end = 0 if "|" in _outside_groups(self.pattern) else _head(self.pattern)
        head, rest = self.pattern[:head_end], self.pattern[head_end:]
        # Behind the literal head and not before it: an expression that begins with a literal is searched faster.
        return re.compile(head + ("" if self.anywhere else _edge(head)) + f"(?:{rest})", re.ASCII)

    def finds(self, text: str) -> Iterator[Span]:
        """The tokens in a text; a row of x in documentation, or words with dashes, are not tokens."""
        for match in self._matches(text):
            body = match[0]
            for keyword in self.keywords:
                body = body.removeprefix(keyword)
            if not _BLANKED.search(body) and _LONG_PART.search(body):
                yield Span(*match.span(), self.name)

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        if not self.is_bounded:
            yield from self.expression.finditer(text)
            return
        for start in range(0, max(1, len(text) - _OVERLAP), _WINDOW - _OVERLAP):
            yield from self.expression.finditer(text, start, start + _WINDOW)


def _outside_groups(pattern: str) -> str:
    """The pattern without its groups and sets, to see whether it is an alternation."""
    return re.sub(r"\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]|\\.", "", pattern)


def _head(pattern: str) -> int:
    match = _HEAD.match(pattern)
    return match.end() if match else 0


def _edge(head: str) -> str:
    """An assertion that what follows a literal head did not begin inside a word.

    The letters that end an escape (`\\n`, `\\u001b`, `%20`, a terminal colour) are not part of the word they precede.
    """
    ends = r"\\[nrtbf]", r"\\u[0-9a-fA-F]{4}", r"%[0-9a-fA-F]{2}", r"\[\dm", r"\[\d\dm", r"\[\d;\d\dm"
    after = "|".join(f"(?<={end}{head})" for end in ends)
    return f"(?:(?<![A-Za-z0-9]{head})|{after})"


class Rules:
    """Finds the tokens of many rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.all = tuple(rules)
        self.names = frozenset(rule.name for rule in self.all)
        by_length = sorted(self.all, key=lambda rule: -max(map(len, rule.keywords)))
        self._order = {rule: number for number, rule in enumerate(by_length)}
        by_keyword: dict[str, list[Rule]] = {}
        for rule in self.all:
            for keyword in rule.keywords:
                by_keyword.setdefault(keyword, []).append(rule)
        # Only the longest keyword at a place is found, so it also represents those that it begins with.
        self._by_keyword = {
            keyword: tuple(rule for other, rules in by_keyword.items() if keyword.startswith(other) for rule in rules)
            for keyword in by_keyword
        }
        self._like_digests = [
            word.encode() for word in by_keyword if not word.encode("latin-1", "replace").strip(_OF_DIGESTS)
        ]
        self._keywords = re.compile(f"(?=({alternation(sorted(by_keyword))}))") if by_keyword else None

    def may_find(self, text: str) -> bool:
        """Whether a text is worth searching for tokens, also when they are escaped inside JSON."""
        for checks, (start, end, rule) in enumerate(self._candidates(text)):
            window = text[max(0, start - _FAR_BEFORE) : end + _FAR_AFTER]
            if not rule.shows_unescaped or checks >= _ENOUGH_CHECKS or rule.expression.search(window):
                return True
        return False

    def finds(self, text: str) -> Iterator[Span]:
        """The issued tokens in a text."""
        found = {rule for _, _, rule in self._candidates(text)}
        # The first match names a span that several share: a longer keyword is more specific.
        for rule in sorted(found, key=self._order.__getitem__):
            yield from rule.finds(text)

    def _candidates(self, text: str) -> Iterator[tuple[int, int, Rule]]:
        """The long runs that hold a keyword, each with a rule of that keyword."""
        if self._keywords is None or len(text) < _SHORTEST_RUN:
            return
        letters = text.encode("latin-1", "replace")
        runs = letters.translate(_AS_RUNS)
        start = runs.find(_RUN)
        while start >= 0:
            end = runs.find(b" ", start)
            end = len(runs) if end < 0 else end
            if self._is_digest(letters, start, end):
                start = runs.find(_RUN, end)
                continue
            seen = {match[1] for match in self._keywords.finditer(text, max(0, start - _BEFORE), end + _AFTER)}
            for keyword in seen:
                for rule in self._by_keyword[keyword]:
                    yield start, end, rule
            start = runs.find(_RUN, end)

    def _is_digest(self, letters: bytes, start: int, end: int) -> bool:
        """Whether a run is a separate digest or UUID, as most long runs are."""
        if letters[start:end].strip(_OF_DIGESTS) or (start and letters[start - 1] not in _BEFORE_DIGEST):
            return False
        return letters[end : end + 1] != b":" and not any(each in letters[start:end] for each in self._like_digests)


def alternation(words: list[str]) -> str:
    """An expression for the longest of sorted words, as a tree of letters, so that each letter is compared once."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_letter.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(letter) + alternation(rests) for letter, rests in by_letter.items()]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return f"{joined}?" if "" in words else joined


@lru_cache(maxsize=1)
def built_in() -> Rules:
    """The built-in rules."""
    data = pkgutil.get_data(__package__, "rules.toml")
    return Rules(_rules(tomllib.loads((data or b"").decode())))


def with_rules_of(text: str, origin: str) -> Rules:
    """The built-in rules and those of a file in the same form.

    Raises `InvalidRule`, which names the file (`origin`) and the rule, for one that is not valid or could be slow, and
    for one whose own example it does not find or whose counter-example it finds.
    """
    try:
        document = tomllib.loads(text)
        own = list(_rules(document))
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise InvalidRule(f"{origin}: {error}") from error
    for rule in own:
        rule.is_bounded = True
        _check(rule, origin)
    return Rules((*built_in().all, *own))


def _rules(document: Mapping[str, Any]) -> Iterator[Rule]:
    extra = set(document) - {"rule"}
    if extra:
        raise ValueError(f"unknown key {min(extra)!r}; a file of rules holds [[rule]] tables")
    for number, fields in enumerate(document.get("rule", ()), start=1):
        yield _rule(fields, number)


def _rule(fields: Mapping[str, Any], number: int) -> Rule:
    name = fields.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"rule {number}: name must be lower-case letters, digits and dashes, at most 41")
    extra = set(fields) - _FIELDS
    if extra:
        raise ValueError(f"rule {name}: unknown key {min(extra)!r}; known keys: {', '.join(sorted(_FIELDS))}")
    keywords = fields.get("keyword")
    keywords = (keywords,) if isinstance(keywords, str) else tuple(keywords or ())
    texts = [fields.get(key, "") for key in ("pattern", "about", "example", "counter")]
    if not keywords or not all(isinstance(each, str) and each for each in keywords):
        raise ValueError(f"rule {name}: keyword must be a text, or a list of texts, that is in every such token")
    if not all(isinstance(each, str) for each in texts) or not texts[0]:
        raise ValueError(f"rule {name}: pattern, about, example and counter must be texts, and pattern is needed")
    pattern, about, example, counter = texts
    return Rule(name, pattern, keywords, about, example, counter, fields.get("anywhere") is True)


def _check(rule: Rule, origin: str) -> None:
    """Refuses a rule of a user that could be slow or does not do what its examples say."""
    try:
        check_pattern(rule.pattern)
        example, counter = filled(rule.example), filled(rule.counter)
        alone = Rules([rule])
        if example and not any(alone.finds(example)):
            raise ValueError(f"it does not find its example {rule.example!r}")
        if counter and any(alone.finds(counter)):
            raise ValueError(f"it finds its counter-example {rule.counter!r}")
    except (re.error, ValueError) as error:
        raise InvalidRule(f"{origin}: rule {rule.name}: {error}") from error


def filled(template: str) -> str:
    """An example with its letters filled in: `{a:36}` becomes 36 letters and digits, always the same."""
    return _TEMPLATE.sub(lambda found: _letters(found[1], int(found[2])), template)


def _letters(kind: str, count: int) -> str:
    letters = _LETTERS[kind]
    return (letters * (count // len(letters) + 1))[:count]
