"""Assignments: a name that speaks of a secret, a sign, and the value that is one.

Theory of operation. Texts hold code, shells, configuration and prose, escaped to any depth, so nothing is parsed. A
name is found by its keyword, the value is read right behind the sign, and only then judged, the more doubtfully the
less the place says: `DB_PASSWORD=x` is believed, `password: x` amid a sentence is not. Each name is looked at on its
own, and no read goes further than a few hundred characters or the next delimiter, so time stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from stenograph.redact import guess
from stenograph.redact.header import cookies_at, parts_of, scheme_end
from stenograph.redact.name import KEYWORDS, Grade, Secret, secret_of
from stenograph.redact.span import Span

_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_NAME_AND_SIGN = re.compile(
    rf"""
    (?:{"|".join(KEYWORDS)})[\w-]{{0,40}}+
    (?P<quote>(?:\\{{0,7}}+["'`])?)\]?
    (?P<sign>[ \t]{{0,8}}+\??(?:=>|:=|=(?![=~])|:(?![:/=]))[ \t]{{0,8}}+)
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_FLAG = re.compile(r"--(?P<name>[A-Za-z][\w-]{0,60}+)[ ]{1,4}(?=[^\s-])", re.ASCII)
_OPENING = re.compile(r"(?:[bru]{0,2}f?(?=[\"']))?(\\{0,7}+)([\"'`])", re.ASCII | re.IGNORECASE)
_QUOTE_OR_END = re.compile(r"(\\*+)([\"'`\r\n\v\f\x1c-\x1e\x85\u2028\u2029])")
_ESCAPES = (0, 1, 3, 7)
"""How many backslashes stand before a quote, by how often the text around it was escaped as JSON."""

_DELIMITERS = r"\s\"'`\\;&|<>(){}\[\]"
_BARE = re.compile(rf"(?:[^{_DELIMITERS},]|,(?=[^{_DELIMITERS},])|\\[!#$%&*@^~=+:?])+", re.ASCII)
_REST = re.compile(r"(?:[^\s\"'`\\\[]|\[(?!masked:))+", re.ASCII)
_IDENTIFIER = re.compile(r"[-!*&@]*+[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*+[!?:.,]*+", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+", re.ASCII)
_LINE_ENDS = re.compile(r"[ \t]*+(?:[\r\n,;}\]&|\"'`]|\\+[nr\"']|\#|//|\Z)", re.ASCII)
_LINE_START = re.compile(r"(?:^|\\n|[\n{,])[ \t]{0,40}+(?:- )?[\"'`]?\Z", re.ASCII)
_COMMAND_START = re.compile(r"(?:^|\\n|\n)(?:export |set |env )?\Z", re.ASCII)
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*+", re.ASCII)
_SMALL_WORD = re.compile(r"[a-z]{4,}+", re.ASCII)
_DIGIT = re.compile(r"[0-9]", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]", re.ASCII)
_ENOUGH = 512
"""Characters of a bare value that are judged; the mask then covers all of it."""


class Place(NamedTuple):
    """Where an assignment stands."""

    name: str
    sign: str
    before: str
    """The text before the name, a short piece of it."""
    quoted_name: bool


def assignments(text: str) -> Iterator[Span]:
    """The values in a text that are assigned to names of secrets."""
    done = 0
    for match in _NAME_AND_SIGN.finditer(text):
        # A name inside a value that is masked as a whole says nothing more.
        if match.start() >= done:
            for span in _judge(text, match.end(), _place(text, match)):
                done = span.end
                yield span
    for match in _FLAG.finditer(text):
        yield from _judge(text, match.end(), Place(match["name"], " ", "--", False))


def _place(text: str, match: re.Match[str]) -> Place:
    """The whole name around the keyword that was found, and what surrounds it."""
    head = text[max(0, match.start() - 64) : match.start()]
    before = head.rstrip(_NAME_LETTERS)
    name = head[len(before) :] + text[match.start() : match.start("quote")]
    if before.endswith("\\") and name[0] in "nrt":
        before, name = before + name[0], name[1:]
    flag = "--" if name.startswith("--") else ""
    return Place(name.lstrip("-"), match["sign"], before + flag, bool(match["quote"]))


def _judge(text: str, start: int, place: Place) -> list[Span]:
    """The secret parts of the value that begins at `start`; none when the value is not believed to be a secret."""
    secret = secret_of(place.name)
    if secret is None:
        return []
    opening = _OPENING.match(text, start)
    if opening is None:
        return _judge_bare(text, start, place, secret)
    end = _closing(text, opening)
    if end is None:
        return _judge_bare(text, opening.end(), place, secret)
    value = text[opening.end() : end]
    # In `input("Password: ") + "x"` the quote behind the sign closes a string that began before the name.
    if not place.quoted_name and value[:1] in " \t,;:+%.)]}&|":
        return []
    if secret.kind == "authorization":
        value = text[scheme_end(text, opening.end(), end) : end]
    believed = _believes_quoted(value, place.name, secret)
    return parts_of(secret.kind, text, opening.end(), end) if believed else []


def _closing(text: str, opening: re.Match[str]) -> int | None:
    """Where the string that was opened ends; None when its line ends first."""
    depth, quote = len(opening[1]), opening[2]
    if depth not in _ESCAPES:
        return None
    for match in _QUOTE_OR_END.finditer(text, opening.end()):
        if match[2] not in "\"'`":
            return None
        # A quote of the value itself has one more escape than the one that ends it; a backslash of its own, two.
        if match[2] == quote and len(match[1]) % (2 * depth + 2) == depth:
            return match.start(2) - depth
    return None


def _believes_quoted(value: str, name: str, secret: Secret) -> bool:
    """Whether a quoted value is a secret."""
    if guess.is_placeholder(value) or guess.is_no_value(value):
        return False
    if secret.grade is Grade.WEAK:
        return guess.is_random(value)
    if secret.grade is Grade.FAIR or secret.kind == "authorization":
        return len(value) >= 8 and not guess.is_words(value) and " " not in value
    # `API_KEY = "api_key"` gives the name of a field.
    return not guess.is_prose(value) and not guess.is_path(value) and value.lower() != name.lower()


def _judge_bare(text: str, start: int, place: Place, secret: Secret) -> list[Span]:
    """The secret parts of a value without quotes."""
    if place.sign.strip() == "=>":
        return []
    if secret.kind == "cookie":
        return cookies_at(text, start) if place.sign.strip() == ":" else []
    if secret.kind == "authorization":
        start = scheme_end(text, start, len(text))
    match = _BARE.match(text, start, start + _ENOUGH)
    if match is None or not _believes_bare(match[0], text, match.end(), place, secret):
        return []
    return [Span(start, _bare_end(text, start), secret.kind)]


def _bare_end(text: str, start: int) -> int:
    """Where a value without quotes ends; one that goes on with a bracket was no code, so the bracket is part of it."""
    match = _BARE.match(text, start)
    end = match.end() if match else start
    rest = _REST.match(text, end) if text[end : end + 1] in ("(", "[", "{") else None
    return rest.end() if rest else end


def _believes_bare(value: str, text: str, end: int, place: Place, secret: Secret) -> bool:
    """Whether a value without quotes is a secret: it may as well be code, a type or a word of a sentence."""
    word = value.rstrip(".,:!?")
    is_code = _IDENTIFIER.fullmatch(value) is not None
    if guess.is_placeholder(value) or guess.is_no_value(word) or guess.is_path(value):
        return False
    if is_code and text[end : end + 1] in ("(", "[", "{", "<"):
        return False
    if secret.grade is Grade.WEAK:
        return guess.is_random(value)
    alone = _LINE_ENDS.match(text, end) is not None
    if _is_plain_setting(place, alone):
        named = word.lower() == place.name.lower() or _DOTTED.fullmatch(word) is not None
        return not named and (len(value) > 3 if secret.kind == "password" else not value.isdigit())
    if is_code:
        return _believes_identifier(word, alone, place, secret)
    has_digit = _DIGIT.search(value) is not None
    if len(value) < 6 or value.isdigit() or (guess.is_words(word) and not has_digit):
        return False
    return alone or (len(value) >= 8 and has_digit and _LETTER.search(value) is not None)


def _is_plain_setting(place: Place, alone: bool) -> bool:
    """Whether the place leaves no doubt that what follows is a plain value: `NAME=`, `?name=`, `--name=`, `X-Name:`."""
    if place.sign == "=":
        return bool(_ENVIRONMENT.fullmatch(place.name)) or place.before.endswith(("?", "&", "--"))
    if place.sign in (":", ": ") and alone:
        return "-" in place.name or bool(_ENVIRONMENT.fullmatch(place.name) and "_" in place.name)
    return False


def _believes_identifier(word: str, alone: bool, place: Place, secret: Secret) -> bool:
    """Whether a value that could be a variable is a secret: with digits most often, else only alone on its line."""
    if not alone or any(keyword in word.lower() for keyword in KEYWORDS):
        return False
    if _DIGIT.search(word):
        return len(word) >= 6
    if secret.grade is not Grade.SURE or not _SMALL_WORD.fullmatch(word):
        return False
    if place.sign == "=":
        return _COMMAND_START.search(place.before) is not None
    return place.sign.startswith(":") and _LINE_START.search(place.before) is not None
