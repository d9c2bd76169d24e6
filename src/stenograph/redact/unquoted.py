"""Values without quotes, which may also be code, a type or a word of a sentence."""

from __future__ import annotations

import re
from typing import NamedTuple

from stenograph.redact import judge
from stenograph.redact.header import cookies_at, credentials_at
from stenograph.redact.name import Grade, Secret, holds_keyword, is_name_of_secret, looks_random
from stenograph.redact.span import Span

_DELIMITERS = r"\s\"'`\\;&|<>(){}\[\]"
_ESCAPED = r"\\[!#$%&*@^~=+:?]"
_BARE = re.compile(rf"(?:[^{_DELIMITERS},=]|{_ESCAPED})+(?:={{1,2}}(?=[{_DELIMITERS},]|\Z))?")
_SETTING = re.compile(rf"(?:[^{_DELIMITERS},]|,(?=[^{_DELIMITERS},])|{_ESCAPED})+")
_REFERENCE = re.compile(r"![A-Za-z]{2,40}+[ \t]++[^\s#]|:?\?[a-z]", re.ASCII)
"""A value that is kept elsewhere, in YAML (`!vault |`, `!Ref X`), or what a shell says without one (`:?missing`)."""
_ODD_SETTING = re.compile(r"[&|>)}][^\s\"'`\\\[]{5,}+(?=\s|\Z)")
"""A value that begins with a sign of the shell, in a file that no shell reads."""
_REST = re.compile(r"(?:[^\s\"'`\\\[]|\[(?!masked:))+")
_IDENTIFIER = re.compile(r"[-!*&@]*+[A-Za-z_$][\w$]*+(?>(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*)[!?:.]*+", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+", re.ASCII)
_LINE_ENDS = re.compile(r"[ \t]*+(?:[\r\n,;}\]&|\"'`]|\\+[nr\"']|\#|//|\Z)", re.ASCII)
_LINE_START = re.compile(r"(?:^|\\n|[\n{,])[ \t]{0,40}+(?:- )?[\"'`]?\Z", re.ASCII)
_COMMAND_START = re.compile(r"(?:^|\\n|\n)(?:export |set |env )?\Z", re.ASCII)
_PROPERTY = re.compile(r"(?<![\w-])-D[\w.]{0,60}\Z", re.ASCII)
_LINE_END = re.compile(r"[ \t]*+(?:\r?\n|\#|\Z)")
_LAST_LINE = re.compile(r"\s*+\Z")
_GOES_ON = re.compile(r"[ \t]++(?:[a-z]++\b|\w++[=:]|--?[a-z]|>)", re.ASCII)
_SECTION = re.compile(r"(?:^|\n)\[{1,2}[\w.: \"'-]{1,80}\]{1,2}[ \t]*\r?\n[^\[\](){}]*\Z")
_DATA_LINE = re.compile(
    r"\n[ \t]*+(?:- )?[\w.-]{1,60}+:[ \t]++(?!(?:str|int|bool|float|string|number|boolean|any|object|bytes)\b)"
    r"(?:[a-z0-9][\w./:@-]*+|[\"'][^\"'\n]*+[\"'])[ \t]*+(?=\r?\n|\Z)",
    re.ASCII,
)
"""A line of YAML whose value is data and not a type."""
_LOGIN_NAME = re.compile(r"(?:AUTH|CREDENTIALS?|CREDS)\Z", re.ASCII)
_LOGIN = re.compile(r"[\w.@-]{1,60}+[:/](?![0-9]{1,5}\Z|[/$<*%{])[^\s/]{4,}+", re.ASCII)
"""A user and a password, as in `BASIC_AUTH=ada:x`."""
_NEIGHBOURS = 800
_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*+", re.ASCII)
_SMALL_WORD = re.compile(r"[a-z]{4,}+", re.ASCII)
_DIGIT = re.compile(r"[0-9]", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]", re.ASCII)
_ENOUGH = 512
"""Characters that are judged, so that time stays linear; the mask then covers all of the value."""


class ValuePlace(NamedTuple):
    """The place of an assignment."""

    name: str
    start: int
    """Where the name begins."""
    sign: str
    """`=`, `:` and the like, with the blanks around it; one blank behind a command's flag."""
    before: str
    """A short piece of the text before the name."""
    quoted_name: bool


def bare_parts(text: str, start: int, stop: int, place: ValuePlace, secret: Secret) -> list[Span]:
    """The secret parts of a value without quotes that begins at `start` and is judged up to `stop`."""
    sign, stop = place.sign.strip(), min(stop, start + _ENOUGH)
    if (sign == "=>" and not place.before.endswith("[")) or _REFERENCE.match(text, start, stop):
        return []
    if secret.kind == "cookie":
        return cookies_at(text, start) if sign == ":" else []
    if secret.kind == "authorization":
        return credentials_at(text, start, stop)
    pattern = _SETTING if _is_setting(place) else _BARE
    match = pattern.match(text, start, stop) or (_ODD_SETTING.match(text, start, stop) if pattern is _SETTING else None)
    if match is None or not _believes(match[0], text, match.end(), place, secret):
        return []
    return [Span(start, _end(text, start, pattern), secret.kind)]


def _end(text: str, start: int, pattern: re.Pattern[str]) -> int:
    """Where an unquoted secret ends; one that continues with a bracket is not code, so the bracket is part of it."""
    match = pattern.match(text, start) or _ODD_SETTING.match(text, start)
    end = match.end() if match else start
    rest = _REST.match(text, end) if text[end : end + 1] in ("(", "[", "{") else None
    return rest.end() if rest else end


def _believes(value: str, text: str, end: int, place: ValuePlace, secret: Secret) -> bool:
    """Whether a value is a secret, judged by itself first and then by its place."""
    word = value.rstrip(".,:!?")
    if judge.is_placeholder(value) or judge.is_no_value(word) or judge.is_path(value):
        return False
    if judge.is_version(value) or value[0] in ":.":
        return False
    is_code = _IDENTIFIER.fullmatch(value) is not None
    if is_code and text[end : end + 1] in ("(", "[", "{", "<"):
        return False
    if secret.grade <= Grade.WEAK:
        is_login = _is_setting(place) and _LOGIN_NAME.search(place.name) and _LOGIN.fullmatch(value)
        return word.lower() != place.name.lower() and (bool(is_login) or looks_random(value, secret))
    alone = _LINE_ENDS.match(text, end) is not None
    if value.isdigit() and alone and secret.grade is Grade.SURE and secret.kind == "password":
        return len(value) >= 4
    if _is_setting(place) or (alone and _is_setting_line(place)):
        return _believes_setting(value, word, place, secret)
    if is_code:
        return _believes_identifier(word, text, end, alone, place, secret)
    return _believes_token(value, word, alone)


def _is_setting(place: ValuePlace) -> bool:
    """Whether the place makes it certain that a plain value follows: `NAME=`, `?name=`, `--name=`."""
    return place.sign == "=" and (
        _ENVIRONMENT.fullmatch(place.name) is not None
        or place.before.endswith(("?", "&", "--", "/:", "-literal="))
        or (place.before.endswith("-") and place.name[0] == "D")
        or _PROPERTY.search(place.before) is not None
        or (place.before.endswith(";") and place.name[0].isupper())
    )


def _is_setting_line(place: ValuePlace) -> bool:
    """Whether the place, with nothing behind the value, shows a header or a variable: `X-Name:`, `SOME_NAME:`."""
    if place.sign not in (":", ": "):
        return False
    return "-" in place.name or ("_" in place.name and _ENVIRONMENT.fullmatch(place.name) is not None)


def _believes_setting(value: str, word: str, place: ValuePlace, secret: Secret) -> bool:
    """Whether a plain value is a secret: anything except numbers and names of other variables."""
    if value.isdigit():
        return secret.kind == "password" and len(value) >= 4
    return word.lower() != place.name.lower() and _DOTTED.fullmatch(word) is None


def _believes_identifier(word: str, text: str, end: int, alone: bool, place: ValuePlace, secret: Secret) -> bool:
    """Whether a value that could be a variable is a secret: with digits mostly, else where a file's line shows it."""
    has_digit = _DIGIT.search(word) is not None
    if not alone:
        # `password: x1y2z3 and go`, `password=x1y2z3 host=db`
        is_spaced = place.sign.strip() == "=" and place.sign != "="
        return has_digit and len(word) >= 6 and not is_spaced and _GOES_ON.match(text, end) is not None
    if has_digit:
        return len(word) >= 6 and not holds_keyword(word)
    if secret.grade is not Grade.SURE:
        return len(word) >= 16 and word.islower() and "_" not in word and place.sign.startswith(": ")
    if is_name_of_secret(word):
        return False
    return _is_line_of_file(word, text, end, place)


def _is_line_of_file(word: str, text: str, end: int, place: ValuePlace) -> bool:
    """Whether a name, a sign and a word without digits are a line of a configuration and not of code."""
    if not _LINE_END.match(text, end):
        return _SMALL_WORD.fullmatch(word) is not None and place.sign.startswith(": ") and _is_line_start(place)
    if place.sign == "=":
        return _COMMAND_START.search(place.before) is not None
    if not _is_line_start(place):
        return False
    if place.sign.startswith(": ") and _SMALL_WORD.fullmatch(word):
        return not holds_keyword(word)
    start = text.rfind("\n", 0, place.start) + 1
    if start == 0 and _LAST_LINE.match(text, end):
        return place.sign.startswith(": ")
    before = text[max(0, start - _NEIGHBOURS) : start]
    if place.sign.strip() == "=":
        return _SECTION.search(before) is not None
    return _DATA_LINE.search(before[-200:]) is not None or _DATA_LINE.match(text, end, end + 200) is not None


def _is_line_start(place: ValuePlace) -> bool:
    return _LINE_START.search(place.before) is not None


def _believes_token(value: str, word: str, alone: bool) -> bool:
    """Whether a value that is not code is a secret; in a sentence only one that mixes letters and digits."""
    has_digit = _DIGIT.search(value) is not None
    if len(value) < 6 or value.isdigit() or (judge.is_words(word) and not has_digit):
        return False
    return alone or (len(value) >= 8 and has_digit and _LETTER.search(value) is not None)
