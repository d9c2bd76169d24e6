"""A user's rules: shapes from a file, further names of secrets, and texts that are never masked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from stenograph.redact import judge
from stenograph.redact.name import Grade, Secret
from stenograph.redact.rules import Rules
from stenograph.redact.span import Span
from stenograph.redact.value_syntax import VALUE, value_span

_SECRET = Secret("secret", Grade.SURE)


class UserRules:
    """What a user adds to the built-in rules."""

    def __init__(self, rules: Rules | None = None, names: Iterable[str] = (), keep: Iterable[str] = ()) -> None:
        """`rules` are built-in and the user's together; None: the built-in ones alone."""
        self.rules = rules
        self._names = frozenset(name.lower() for name in names if name)
        self._keep = frozenset(keep)
        spelled = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        sign = r"\\{0,7}+[\"'`]?\]?[ \t]{0,8}+(?:=>|:=|[:=])[ \t]{0,24}+"
        self._named = re.compile(rf"(?<![A-Za-z0-9])(?:{spelled}){sign}{VALUE}", re.IGNORECASE) if self._names else None

    def promise(self, name: str | None) -> Secret | None:
        """What the key of a text says about its secrecy, by the user's names."""
        return _SECRET if name is not None and self._names and name.lower() in self._names else None

    def may_find(self, text: str) -> bool:
        """Whether one of the user's names is in a text."""
        small = text.lower() if self._names else ""
        return any(name in small for name in self._names)

    def spans(self, text: str) -> Iterator[Span]:
        """The values that are assigned to the user's names."""
        if self._named is None:
            return
        for match in self._named.finditer(text):
            start, end = value_span(match)
            if not judge.is_placeholder(text[start:end]):
                yield Span(start, end, _SECRET.kind)

    def without_kept(self, text: str, spans: list[Span]) -> list[Span]:
        """The spans without those whose text the user wants to keep."""
        return [span for span in spans if text[span.start : span.end] not in self._keep] if self._keep else spans
