"""Known secrets: texts that the user gave, wherever and however they are written."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from stenograph.redact import judge
from stenograph.redact.name import Grade, looks_random, secret_of
from stenograph.redact.span import MARK_START, Span

SHORTEST = 4
"""Shorter texts are parts of words, and masking them would leave nothing."""
_KIND = "named-secret"
_MARK = re.escape(MARK_START) + r"[\w-]+\]"
_SHORT = {"\n": (r"\\+n",), "\r": (r"\\+r",), "\t": (r"\\+t",)}
"""Letters for which JSON has a short escape."""
_SHORTEST_OF_A_VARIABLE = 8
_LONGEST_WORD = 16


class KnownSecrets:
    """Finds texts that are known to be secret, also escaped for JSON, for HTML or for an address."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        named = sorted((each for each in secrets if len(each) >= SHORTEST), key=len)
        forms = dict.fromkeys(form for secret in reversed(named) for form in _forms(secret))
        patterns = "|".join("".join(map(_letter, form)) for form in forms)
        self._pattern = re.compile(f"{_MARK}|({patterns})") if forms else None

    def are_in(self, text: str) -> bool:
        """Whether one of them is in a text."""
        return any(True for _ in self.spans(text))

    def spans(self, text: str) -> Iterator[Span]:
        """Where they are."""
        if self._pattern is not None:
            yield from (Span(*match.span(), _KIND) for match in self._pattern.finditer(text) if match[1])


def secrets_among(variables: Mapping[str, str]) -> set[str]:
    """The values of environment variables with secret names, except common words."""
    return {value for name, value in variables.items() if _is_secret(name, value)}


def _is_secret(name: str, value: str) -> bool:
    promised = secret_of(name)
    if promised is None or len(value) < _SHORTEST_OF_A_VARIABLE or judge.is_placeholder(value) or judge.is_path(value):
        return False
    if promised.grade <= Grade.WEAK:
        return looks_random(value, promised)
    return not value.isdigit() and (not value.isalpha() or len(value) > _LONGEST_WORD)


def _forms(secret: str) -> Iterator[str]:
    yield from (secret, html.escape(secret), html.escape(secret, quote=False))
    plain = secret.encode("utf-8", "replace").decode()
    for address in (quote(plain), quote(plain, safe=""), quote_plus(plain)):
        yield from (address, re.sub("%..", lambda found: found[0].lower(), address))


def _letter(letter: str) -> str:
    """A letter as JSON may write it, escaped any number of times."""
    if letter == "\\":
        return r"\\+"
    if letter in '"/':
        return rf"\\*{letter}"
    if letter.isprintable() and letter.isascii():
        return re.escape(letter)
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    escaped = "".join(rf"\\+u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4))
    return f"(?:{'|'.join((re.escape(letter), escaped, *_SHORT.get(letter, ())))})"
