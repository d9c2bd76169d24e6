"""Assignments: a name that indicates a secret, a sign, and the value that is the secret.

Theory of operation. Texts hold code, shells, configuration and prose, escaped to any depth, so nothing is parsed. A
name is found by its keyword, the value is read right behind the sign, and then judged, more strictly the
less its place says: `DB_PASSWORD=x` is accepted, `password: x` in a sentence is not. Each name is handled on its
own, and no value is read further than to its closing quote, the next name or a few hundred characters, so time stays
linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.header import parts_of, scheme_end
from stenograph.redact.name import KEYWORDS, Grade, Secret, holds_keyword, is_name_of_secret, looks_random, secret_of
from stenograph.redact.span import Span
from stenograph.redact.unquoted import ValuePlace, bare_parts

_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SIGN = r"""
    [\w-]{0,40}+
    (?P<quote>(?:\\{0,7}+["'`])?)\]?
    (?P<sign>[ \t]{0,8}+\??(?:=>|:=|<-|=(?![=~])|:(?![:/=]))[ \t]{0,24}+)
"""
_NAMES = {word: re.compile(pattern + _SIGN, re.ASCII | re.VERBOSE) for word, pattern in KEYWORDS.items()}
_OPENING = re.compile(
    r"(?:(?P<letters>[brufn]{1,2})(?=[\"']))?(?P<escapes>\\{0,7}+)(?P<quote>[\"'`])", re.ASCII | re.IGNORECASE
)
_QUOTE_OR_LINE_END = re.compile(r"(?<!\\)(\\*+)([\"'`\r\n\v\f\x1c-\x1e\x85\u2028\u2029])")
_TYPE = re.compile(
    r"(?:&(?:'static[ ])?)?[A-Za-z_][\w.]{0,40}+(?:[\[<][\w., |]{0,60}+[\]>])?"
    r"(?:[ ]?\|[ ]?(?:None|null|undefined)|[?!])?"
    r"[ \t]{0,8}+=[ \t]{0,8}+(?=[a-zA-Z]{0,2}\\{0,7}+[\"']|[A-Z]\w{1,30}+\()",
    re.ASCII,
)
"""A type between a name and its value: `password: str = "x"`."""
_FALLBACK = re.compile(
    r"[A-Za-z_$][\w.$]{0,80}+(?:\?\.\w{1,60}+|[\[(]\\{0,7}+[\"'][\w.-]{1,60}+\\{0,7}+[\"'][\])])?"
    r"[ \t]{0,8}+(?:\|\||\?\?|\?:|or\b)[ \t]{0,8}+(?=\\{0,7}+[\"'`])",
    re.ASCII,
)
"""Where the value usually comes from, before the one in its place: `process.env.TOKEN || "x"`."""
_WRAPPER = re.compile(
    r"(?:SecretStr|SecretString|Secret|Some|String::from|Buffer\.from|bytes\.fromhex|base64\.b64decode"
    r"|Field\((?:default=)?SecretStr|Field)\((?:default=)?(?=[a-zA-Z]{0,2}\\{0,7}+[\"'])",
    re.ASCII,
)
"""What makes a value of a literal."""
_TRIPLE = re.compile(r"[bruf]{0,2}(?P<quote>\\{0,7}+[\"'])(?P=quote)(?=(?P=quote))", re.ASCII | re.IGNORECASE)
_TAG = re.compile(r"!!(?:str|binary)[ \t]++", re.ASCII)
_BLOCK = re.compile(
    r"[|>][+-]?[1-9]?[+-]?[ \t]*+(?:\#[^\n]*+)?\r?\n(?P<lines>(?>(?:[ \t]{1,40}+[^\s][^\n]*+(?:\n|\Z)){1,40}))"
)
"""A value in the lines below its name, as in YAML."""
_BLOCK_LINE = re.compile(r"^(?P<indent>[ \t]++)(?P<value>\S++)[ \t\r]*+$", re.MULTILINE)
_ESCAPES = (0, 1, 3, 7)
"""How many backslashes are before a quote, by how often the text around it was escaped as JSON."""
_FIELD_NAME = re.compile(r"_*(?:[a-z]+|[A-Z][a-z]*)(?:[A-Z][a-z]+)+|[a-z]+(?:[._][a-z]+)+", re.ASCII)


def assignments(text: str, small: str) -> Iterator[Span]:
    """The values in a text that are assigned to names of secrets; `small` is the text in small letters."""
    done = 0
    found = [(match.end(), _place(text, match)) for match in _names(small)]
    for (start, place), following in zip(found, [*found[1:], None], strict=False):
        # A name inside a value that is masked as a whole adds nothing.
        if place.start >= done:
            for span in value_parts(text, start, _stop(text, start, following), place):
                done = span.end
                yield span


def _names(small: str) -> list[re.Match[str]]:
    """The names with a sign behind them, in order; a name that holds two keywords is one."""
    found: dict[int, re.Match[str]] = {}
    for word, pattern in _NAMES.items():
        if word in small:
            # By keyword, because a pattern that begins with a literal is searched many times faster.
            found |= {match.end(): match for match in pattern.finditer(small)}
    return [found[end] for end in sorted(found)]


def _stop(text: str, start: int, following: tuple[int, ValuePlace] | None) -> int:
    """Where to stop judging the value at `start`: at the next name, or behind its sign if the value begins with it."""
    if following is None:
        return len(text)
    sign_end, place = following
    return place.start if place.start > start else sign_end


def _place(text: str, match: re.Match[str]) -> ValuePlace:
    """The whole name around the keyword that was found, and what surrounds it."""
    head = text[max(0, match.start() - 64) : match.start()]
    before = head.rstrip(_NAME_LETTERS)
    name = head[len(before) :] + text[match.start() : match.start("quote")]
    start = match.start("quote") - len(name)
    if before.endswith("\\") and name[0] in "nrt":
        before, name = before + name[0], name[1:]
    dashes = name[: len(name) - len(name.lstrip("-"))]
    return ValuePlace(name.lstrip("-"), start, match["sign"], before + dashes, bool(match["quote"]))


def value_parts(text: str, start: int, stop: int, place: ValuePlace) -> list[Span]:
    """The secret parts of the value that begins at `start`; none when the value is not judged to be a secret.

    A value without quotes is judged by the text before `stop`.
    """
    secret = secret_of(place.name)
    if secret is None:
        return []
    start = _behind_code(text, start, place)
    opening = _OPENING.match(text, start)
    if opening is None and place.sign.strip() == ":" and (block := _BLOCK.match(text, start)):
        return list(_block_parts(text, block, place, secret))
    if opening is None:
        return bare_parts(text, start, stop, place, secret)
    start, end = opening.end(), _closing(text, opening)
    if end is None:
        return bare_parts(text, start, stop, place, secret)
    # In `input("Password: ") + "x"` the quote behind the sign closes a string that began before the name.
    if not place.quoted_name and _closes_string(text, start, end):
        return []
    is_pattern = "r" in (opening["letters"] or "").lower()
    is_command = opening["quote"] == "`" and " " in text[start:end] and secret.kind != "authorization"
    if is_pattern or is_command or not believes(text[start:end], place.name, secret):
        return []
    return parts_of(secret.kind, text, start, end)


def _behind_code(text: str, start: int, place: ValuePlace) -> int:
    """Where a literal begins: behind its type, what it stands in for, what makes a value of it, or two more quotes."""
    patterns = (
        (_TYPE, _FALLBACK, _WRAPPER, _TRIPLE, _TAG) if place.sign.strip() == ":" else (_FALLBACK, _WRAPPER, _TRIPLE)
    )
    for pattern in patterns:
        match = pattern.match(text, start)
        start = match.end() if match else start
    return start


def _block_parts(text: str, block: re.Match[str], place: ValuePlace, secret: Secret) -> Iterator[Span]:
    """The lines of a block below a name, as far as they are indented more than it."""
    before = text[text.rfind("\n", max(0, place.start - 200), place.start) + 1 : place.start]
    indent = len(before) - len(before.lstrip(" \t"))
    for line in _BLOCK_LINE.finditer(text, *block.span("lines")):
        if len(line["indent"]) <= indent or not believes(line["value"], place.name, secret):
            return
        yield Span(*line.span("value"), secret.kind)


def _closes_string(text: str, start: int, end: int) -> bool:
    """Whether the text after a quote shows that the quote closed a string, so that this is code and not a value."""
    first = text[start : start + 1]
    return first in " \t,;:)]}" or (first in "+%.&|" and " " in text[start:end])


def _closing(text: str, opening: re.Match[str]) -> int | None:
    """Where the opened string ends, or the text, if it was cut off; None when a line ends first."""
    depth, quote = len(opening["escapes"]), opening["quote"]
    if depth not in _ESCAPES:
        return None
    for match in _QUOTE_OR_LINE_END.finditer(text, opening.end()):
        if match[2] not in "\"'`":
            return None
        # A quote of the value itself has one more escape than the one that ends it; a backslash of its own, two.
        if match[2] == quote and len(match[1]) % (2 * depth + 2) == depth:
            return match.start(2) - depth
    return len(text)


def believes(value: str, name: str, secret: Secret) -> bool:
    """Whether a quoted value is a secret: labels, messages and names of fields are not."""
    if secret.kind == "authorization":
        value = value[scheme_end(value, 0, len(value)) :]
    if len(value) < 2 or judge.is_placeholder(value) or judge.is_no_value(value):
        return False
    if secret.grade <= Grade.WEAK:
        return looks_random(value, secret)
    if judge.is_prose(value) or judge.is_path(value) or judge.is_version(value):
        return False
    if secret.grade is Grade.FAIR or secret.kind == "authorization":
        return len(value) >= 8 and not judge.is_words(value) and " " not in value
    if secret.kind == "cookie":
        return "=" in value
    if value.lower() == name.lower():
        return False
    return not (
        _FIELD_NAME.fullmatch(value) and holds_keyword(value) and (secret_of(value) is None or is_name_of_secret(value))
    )
