"""Names: which ones say that their value is a secret, and how certainly."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from stenograph.redact import judge


class Grade(IntEnum):
    """How certainly a name says that its value is secret."""

    FAINT = 0
    """Only a value that looks random and is not a digest is secret (`key`)."""
    WEAK = 1
    """Only a value that looks random is secret (`cache_key`, `auth_state`)."""
    FAIR = 2
    """A value that is not a plain word is secret (`token`, `auth`)."""
    SURE = 3
    """Any value is secret (`password`, `client_secret`)."""


class Secret(NamedTuple):
    """What a name says about its value."""

    kind: str
    grade: Grade


KEYWORDS = {
    "key": r"key(?!s\b|words?\b|board)",
    "token": r"token(?!s\b)",
    "secret": r"secret(?!s\b)",
    "pass": r"pass(?:w|phrase|code|(?<=_pass)(?![a-z])|(?<=[a-z]pass)(?=[\W_]|$))",
    "pwd": r"pwd",
    "psk": r"psk(?![a-z])",
    "pw": r"(?:(?<![a-z])|(?<=root)|(?<=bind))pw(?![a-z])",
    "pin": r"(?<![a-z])pin(?![a-z])",
    "pat": r"(?<=[a-z0-9][_-])pat(?![a-z])",
    "kennwort": r"kennwort",
    "contrase": r"contrase[nñ]a",
    "passe": r"mot_?de_?passe",
    "mnemonic": r"mnemonic",
    "credential": r"credential",
    "auth": r"auth(?!or(?!i[sz]))",
    "cookie": r"cookie(?!s\b)",
}
"""Words of secret names, one in each, with the pattern that distinguishes it from similar words (small letters)."""

_IDENTIFIER = re.compile(
    r"(?:parent|child)?(?:tool|call|tooluse|toolcall|message|session|conversation|thread|turn|run)id"
    r"|(?:item|response|request|prompt|agent)id|(?:parent|leaf)?uuid|sha256"
)
"""Fields that join records; whatever they hold, they are never masked."""

_SURE = (
    ("secretaccesskey", "aws-secret-key"),
    ("accountkey", "azure-key"),
    ("sharedaccesskey", "azure-key"),
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("passcode", "password"),
    ("passwort", "password"),
    ("kennwort", "password"),
    ("contrasena", "password"),
    ("motdepasse", "password"),
    ("pwd", "password"),
    ("presharedkey", "password"),
    ("mnemonic", "secret"),
    ("seedphrase", "secret"),
    ("recoveryphrase", "secret"),
    ("apikey", "api-key"),
    ("authkey", "api-key"),
    ("accesskey", "api-key"),
    ("subscriptionkey", "api-key"),
    ("secret", "secret"),
    ("secretkey", "secret"),
    ("privatekey", "private-key"),
    ("clientkeydata", "private-key"),
    ("sharedkey", "secret"),
    ("licensekey", "secret"),
    ("signingkey", "secret"),
    ("encryptionkey", "secret"),
    ("hmackey", "secret"),
    ("secretstring", "secret"),
    ("masterkey", "secret"),
    ("oauthbearer", "token"),
    ("authorization", "authorization"),
    ("cookie", "cookie"),
)
_SHORT_NAMES = ("psk", "pw", "pin")
_FAIR = {
    "token": "token",
    "auth": "credential",
    "credential": "credential",
    "credentials": "credential",
    "passwords": "password",
}
_OF_TOKENS = re.compile(
    r"input|output|next|prev|previous|first|last|current|page|continuation|cursor|sync|resume|cancel|cancellation"
    r"|max|min|num|per|eos|bos|pad|unk|sep|cls|mask|stop|special"
)
"""Words before `token` with which it means a word, a place in a list or a signal."""
_ABOUT = re.compile(
    r"ids?|names?|types?|counts?|paths?|files?|tokens|usage|url|uri|dir|length|size|limit|field|kind|mode|source|status"
    r"|error|expires|expiry|expiration|at|in|format|header|prefix|suffix|method|provider|scope|index|required|enabled"
    r"|hint|label|title"
)
"""Last words with which a name is about a secret and its value is not one."""
_PUBLIC = re.compile(r"public|publishable|pub|pubkey")
"""Words in the names of public keys."""
_OF_KEYS = re.compile(
    r"cache|primary|foreign|sort|partition|idempotency|dedupe|dedup|index|hash|object|storage|lookup|group|routing"
    r"|integrity|socket"
    r"|lock|etag|query|map|dict|row|react|shard|s|cookie|cookies"
)
"""Words in the names of keys under which something is stored or found; `s` is what `s3` leaves."""
_OF_PASSES = re.compile(
    r"db|database|ssh|smtp|mail|email|user|admin|root|mysql|postgres|pg|redis|ftp|sftp|ldap|sudo|become|login"
    r"|basic|http|proxy"
    r"|wifi|auth|my|app|service|mongo|rabbitmq|mq|kafka|vpn|imap|pop|account|host|bind|key|store|zip|archive"
)
"""Words before `pass` with which it means a password."""
_VARIANTS = re.compile(
    r"confirm|confirmation|again|repeat|old|new|current|previous|prod|production|dev|development|test|staging"
    r"|base|value|default|ro|rw|primary|secondary|v"
)
"""Last words that do not change what a name is about."""

_KEYWORD = re.compile("|".join(KEYWORDS.values()), re.ASCII)
_ENDS_NAME = re.compile(rf"(?:{_KEYWORD.pattern})[\w-]{{0,60}}+\Z", re.ASCII)
"""Only letters may follow the keyword, as the hints expect it."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_LONGEST = 100
_SPELLED = re.compile(r"[ -~]{1,100}", re.ASCII)


@lru_cache(maxsize=4096)
def is_identifier(name: str) -> bool:
    """Whether a field of this name joins records and must stay unchanged."""
    return _IDENTIFIER.fullmatch(name.lower().replace("_", "").replace("-", "")) is not None


def holds_keyword(text: str) -> bool:
    """Whether a name or value holds a word for secrets."""
    return _KEYWORD.search(text.lower()) is not None


@lru_cache(maxsize=4096)
def secret_of(name: str) -> Secret | None:
    """What a name says about its value, or None when it says nothing."""
    if not _SPELLED.fullmatch(name) or not _ENDS_NAME.search(name.lower()):
        return None
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and _VARIANTS.fullmatch(words[-1]):
        words.pop()
    if not words or _ABOUT.fullmatch(words[-1]) or words == ["oldpwd"] or any(map(_PUBLIC.fullmatch, words)):
        return None
    found = _by_ending(words, name)
    if found is None and any(map(_OF_KEYS.fullmatch, words)):
        return None
    return found or Secret("high-entropy", Grade.FAINT if words == ["key"] else Grade.WEAK)


def looks_random(value: str, secret: Secret) -> bool:
    """Whether a value is irregular enough for a name that says little."""
    return judge.is_random(value) and not (secret.grade is Grade.FAINT and judge.is_digest(value.rsplit("-", 1)[-1]))


def is_name_of_secret(value: str) -> bool:
    """Whether a value is itself the name of a secret, such as `userPassword` or `api_key`."""
    secret = secret_of(value) if len(value) <= _LONGEST else None
    return secret is not None and secret.grade > Grade.WEAK


def _by_ending(words: list[str], name: str) -> Secret | None:
    """What the last words of a name say."""
    compact = "".join(words)
    for ending, kind in _SURE:
        if compact.endswith(ending):
            return Secret(kind, Grade.SURE)
    if words[-1] == "pass" and (name.isupper() or (len(words) > 1 and _OF_PASSES.fullmatch(words[-2]))):
        return Secret("password", Grade.SURE)
    if words[-1] in _SHORT_NAMES or compact.endswith(("rootpw", "bindpw")):
        return Secret("password", Grade.SURE)
    if words[-1] == "pat" and len(words) > 1:
        return Secret("token", Grade.WEAK)
    if compact in _FAIR:
        return Secret(_FAIR[compact], Grade.FAIR)
    if compact.endswith("token"):
        return None if any(map(_OF_TOKENS.fullmatch, words)) else Secret("token", Grade.SURE)
    return None
