"""Judges values: which stand for a secret kept elsewhere, which are words, which look random."""

from __future__ import annotations

import math
import re
from collections import Counter

from stenograph.redact.span import MARK_START

_PLACEHOLDER = re.compile(
    r"""
      (?:[*.•#_?\s-]*+|x{3,}+)\Z
    | \$+\(|\$(?:[0-9@*]|\{?[A-Za-z_]\w*+\}?)(?:\Z|[@&;])|%[A-Za-z_]\w*+%\Z|%[sdrv]\Z|%\(
    | <[^<>]*+>\Z | \[[^\[\]]*+\]\Z | \{[\w.\ -]*+\}\Z
    | (?:process\.)?env[.:\[] | (?:os\.environ/|(?:os\.environ|secrets|vars|config|settings|self|this)[.\[])
    | (?:op|vault|file|arn):
    | (?:your|replace|insert|example|redacted|placeholder|dummy|todo|fixme)(?![a-z0-9])
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_TEMPLATE = re.compile(
    r"\$\{|\$\(|\{\{|#\{|<%|\{[A-Za-z_][\w.]{0,60}+(?:[(\[][^{}\"]{0,60}+)?\}"
    r"|\*{3}|x{6}|(?:\.\.\.|…)\Z|your[-_ ]|redacted",
    re.ASCII | re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"none|null|nil|true|false|undefined|yes|no|on|off|str|string|text|int|integer|number|float|bool|boolean|bytes|any"
    r"|object|array|list|dict|map|void|never|varchar|char|type|optional|required|unknown|hidden|missing|invalid|valid"
    r"|empty|unset|set|sha256|sha512|base64|oauth2|bearer|basic|include|omit|inherit|read|write|return|await|async"
    r"|new|\#[0-9a-f]{3,8}"
    r"|passwort|kennwort|mot de passe|contrase[ñn]a|senha|wachtwoord|lösenord|hasło|пароль"
    r"|密码|密碼|パスワード|비밀번호",
    re.ASCII | re.IGNORECASE,
)
_WORD = r"(?:[A-Z]?[a-z]++|[A-Z]++)"
_WORDS = re.compile(rf"{_WORD}(?>(?:[-_. ]{_WORD})*)", re.ASCII)
_PROSE = re.compile(
    r"\b(?:your?|must|is|not|cannot|required|invalid|missing|incorrect|wrong|enter|please|forgot|reset|match)\b"
    r"|[.?:]\Z",
    re.ASCII | re.IGNORECASE,
)
_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.@~-]+(?:/|\Z)|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]{1,20}://", re.ASCII)
_VERSION = re.compile(r"[~^<>=v ]{0,3}[0-9]{1,4}(?:\.[0-9x*]{1,4}){1,3}(?:[-+][\w.-]{0,40})?", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_RANDOM_LETTERS = re.compile(r"[A-Za-z0-9+/=_.~:%-]{20,}", re.ASCII)
_PART = re.compile(r"[A-Za-z0-9+/]{16,}+", re.ASCII)
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[0-9]|(?<=[0-9])[A-Za-z]|(?<=[A-Z][A-Z])[a-z]", re.ASCII)
_HEX = re.compile(r"[0-9a-fA-F]++", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]", re.ASCII)
_DIGIT = re.compile(r"[0-9]", re.ASCII)
_SIGN = re.compile(r"[!@#$%^&*+=~?|<>{}]", re.ASCII)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z].*[a-z][A-Z]|[A-Z][a-z][A-Z][a-z][A-Z]", re.ASCII)
_ASSIGNMENT = r"(?![A-Za-z0-9+/_-]{16,}={1,2}\Z)\S+=\S*"
"""A name and a value; the padding of base64 is not a sign."""
_PLAIN_MIX = re.compile(
    r"[A-Za-z]+(?:[-_.][A-Za-z]+)*[-_.]?[0-9]{1,2}|[0-9]+(?:st|nd|rd|th|ms|kb|mb|gb|px|em|[a-z]|-[a-z]+(?:-[a-z]+)*)"
    r"|[A-Za-z]+\(\)|[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}.*|[A-Z]+-[0-9]+|[a-z]+(?:\.[a-z]+)+:[0-9]+|\S*\(\S*\)"
    rf"|{_ASSIGNMENT}",
    re.ASCII | re.IGNORECASE,
)
"""Words with a number, counts, dates, calls, assignments."""
_CALL = re.compile(
    rf"[\w.$]+\[\S*|\S*\(\S*|{_ASSIGNMENT}|[0-9]+(?:-[a-z]+)+|[0-9]+[a-z]{{1,2}}|[a-z]+\.[a-z]+\S*"
    r"|\S*\.(?:py|js|ts|md|json|txt)",
    re.ASCII,
)
_DIGESTS = (32, 40, 56, 64, 96, 128)
_ENOUGH = 512
"""The characters by which a value is judged; the rest is ignored."""


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret that is kept elsewhere, or was masked already."""
    return MARK_START in value or _PLACEHOLDER.match(value) is not None or _TEMPLATE.search(value) is not None


def is_no_value(value: str) -> bool:
    """Whether the value is a word of programming languages, or a translation of its own label."""
    return _NO_VALUE.fullmatch(value) is not None


def is_version(value: str) -> bool:
    """Whether the value is a version, as of a package whose name speaks of tokens or cookies."""
    return _VERSION.fullmatch(value) is not None


def is_words(value: str) -> bool:
    """Whether the value is words joined by dashes, dots, underscores or spaces."""
    return _WORDS.fullmatch(value) is not None


def is_prose(value: str) -> bool:
    """Whether the value reads like a sentence about secrets."""
    return " " in value and _PROSE.search(value) is not None


def is_path(value: str) -> bool:
    """Whether the value is the location of something: a file or an address."""
    return _PATH.match(value) is not None


def is_random(value: str) -> bool:
    """Whether the value is too irregular to be words, a path, a date or a UUID."""
    head = value[:_ENOUGH]
    if not _RANDOM_LETTERS.fullmatch(head) or is_path(head) or _UUID.fullmatch(head):
        return False
    return any(_is_disorderly(part) for part in _PART.findall(head))


def is_digest(value: str) -> bool:
    """Whether the value has the length and the characters of a digest."""
    return len(value) in _DIGESTS and _HEX.fullmatch(value) is not None


def _is_disorderly(part: str) -> bool:
    """Whether letters and digits alternate as often as in random text."""
    if part.isalpha() or part.isdigit():
        return False
    least = 3.0 if _HEX.fullmatch(part) else 3.5
    return len(_CHANGES.findall(part)) >= len(part) / 5 and entropy(part) >= least


def entropy(text: str) -> float:
    """Shannon's entropy in bits per character."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def looks_secret(value: str) -> bool:
    """Whether a single word is unusual in sentences and code: it mixes letters with digits or signs."""
    if len(value) < 6 or is_words(value) or is_path(value) or is_version(value) or _PLAIN_MIX.fullmatch(value):
        return False
    has_letter, has_digit = _LETTER.search(value), _DIGIT.search(value)
    return bool(has_letter and (has_digit or _SIGN.search(value))) or _INNER_CAPITAL.search(value) is not None


def looks_mixed(value: str) -> bool:
    """Whether a word behind the name of a secret mixes letters with digits, signs or capitals as passwords do."""
    value = value.rstrip("?")
    if len(value) < 5 or is_path(value) or is_version(value) or _CALL.fullmatch(value) or is_words(value):
        return False
    has_letter = _LETTER.search(value)
    return (
        bool(has_letter and (_DIGIT.search(value) or _SIGN.search(value))) or _INNER_CAPITAL.search(value) is not None
    )
