"""Hints: a cheap check that skips harmless text.

A hint must be found in every text in which a rule would find something, also when that text is escaped inside JSON;
it may be found in others. So nothing here depends on quotes or on how line ends are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.command import COMMAND_NAMES, may_hold_command_secret
from stenograph.redact.file_line import may_hold_file_secret
from stenograph.redact.markup import may_hold_markup_secret
from stenograph.redact.name import KEYWORDS
from stenograph.redact.rules import Rules, built_in
from stenograph.redact.url import may_hold_url_secret

_SIGN = r"[\w-]{0,60}+[\s\\\"'`\]t?]{0,40}+(?:[:=]|<-)(?!\s{0,9}(?:\{|(?:null|true|false)[,}\]](?!\w)))"
_NO_NUMBER = r"(?!\s{0,9}[0-9.]{1,40}[,}\]](?!\w))"
_MAYBE_NUMBERS = ("pass", "pwd", "pin", "secret")
_SHORTEST = len("_PASS=x")
_USERINFO = re.compile(r"://[^\s/@]*+@|jdbc:oracle|@(?:tcp|unix)\(", re.ASCII)
_IN_NAMES = ("key", "token", "secret", "pass", "credential", "auth", "cookie", "pwd")
"""Keywords that are searched inside of words; the others are separate words, which are found as such."""
_NAMES = tuple(
    (word, re.compile(pattern + _SIGN + ("" if word in _MAYBE_NUMBERS else _NO_NUMBER), re.ASCII))
    for word, pattern in KEYWORDS.items()
    if word in _IN_NAMES
)
_LABEL = re.compile(
    rf"(?:name|key)[\s\\\"'`]{{0,20}}+(?:=>|[:=])[\s\\\"'`]{{0,20}}+[\w.-]{{0,60}}?(?:{'|'.join(KEYWORDS.values())})",
    re.ASCII,
)
"""A field that holds the name of a secret, whose value is in another."""
_ESCAPED = re.compile(r"\\u00[2-7]")
"""An escape of a letter that needs none: the word that it is part of shows only when it is decoded."""
_WORDS = "|".join(KEYWORDS.values())
_FLAG = re.compile(rf"-[\w.-]{{0,60}}?(?:{_WORDS})[\w-]{{0,60}}+(?:[ \\\"']|\t)", re.ASCII)
_BEFORE_VALUE = re.compile(
    rf"(?:{_WORDS})[\w.-]{{0,40}}+(?:[\\\"']{{0,8}}+\s{{0,8}}+[,(]|[ \t]|\\t)[\s\\nt]{{0,12}}+[\"'`]"
    rf"|(?:env|arg|setenv|setx|export|-[gux]{{1,3}}|config|configure|set"
    rf"|--global)[ \t][\w./:@-]{{0,80}}?(?:{_WORDS})[\w.-]{{0,40}}+[ \t]"
    rf"|(?:{_WORDS})\w{{0,40}}+[ \t]++(?:as[ \t]++)?str(?:ing)?[ \t]*+="
    rf"|(?:token|secret|key|credentials?|pin)[^\w\s]{{0,4}}+(?:[ ](?:for|of|to|on|für|pour|para|de)[ ][^\n]{{1,80}}?)?"
    rf"(?:[ ](?:is|was|will be|are|to|ist|lautet|est|es)|[ ]?(?:->|→|=>|—|–|-))[^\n]{{0,24}}?[0-9!@#$%^&*+~\"'`\\]",
    re.ASCII,
)
"""The name of a secret and its possible value, without a sign between them."""
_HEADING = re.compile(
    rf"(?:^|\\n|[\n\"])[\w \"'*`@./|│┃,;\t\\-]{{0,200}}?(?:{_WORDS})[\w \"'*`-]{{0,20}}+"
    rf"(?:[,;|│┃\t]|\\t|\\r|\\n|\n|\r)",
    re.ASCII,
)
_SAYS_PASSWORD = re.compile(
    r"pass(?:w|phrase|code|[ -]phrase|:)|mot de passe"
    r"|(?:user|login|mail|account)[^\n]{0,90}?(?:\n[ \t]{0,20}+)?(?:(?<![a-z])|(?<=\\n))pass\b"
)
_ELSEWHERE = re.compile(
    r"[密暗]|hasło|口令|令牌|パスワ|合言葉|トークン|비밀|암호|пароль"
    r"|\\u(?:5bc6|6697|53e3|4ee4|30d1|5408|30c8|be44|c554|043f|041f|00f1|00fc|00f6|0142|015[ef])",
    re.IGNORECASE,
)
_BEARER = re.compile(r"bearer(?:[ +%]|\t|\\t)|basic(?:[ +%]|\t|\\t)[ \t20]{0,4}+[a-z0-9+/]{8}", re.ASCII)
_IN_WORDS = frozenset(
    before + word.encode()
    for before in (b"", b"n", b"t", b"r")
    for word in (
        *("pwd", "pw", "psk", "pin", "mdp", "kennwort", "senha", "clave", "parola", "jeton", "mnemonic", "clé"),
        *("contraseña", "contrasena", "contraseñas", "schlüssel", "zugangsschlüssel", "identified", "credentials"),
        *("masterauth", "requirepass", "primaryauth", "getconnection", "logon", "creds", "bindpw", "olcrootpw", "pat"),
        *("wachtwoord", "hasło", "haslo", "lösenord", "şifre", "adgangskode", "salasana", "heslo", "jelszó", "parolă"),
        *("fernet", "hmac", "createhmac", "jwt", "pdo", "mysqli", "dbi", "samesite", "httponly"),
    )
)
"""Words that alone justify a search; inside JSON, the letter of an escaped line end is before some."""
_ONLY_WITH = {
    "login": (
        "docker",
        "podman",
        "nerdctl",
        "buildah",
        "skopeo",
        "helm",
        "oras",
        "crane",
        "az",
        "vault",
        "cargo",
        "bw",
    ),
    "config": (
        "git",
        "npm",
        "yarn",
        "pnpm",
        "gcloud",
        "composer",
        "bundle",
        "pip",
        "conda",
        "wrangler",
        "pulumi",
        "snowsql",
    ),
    "configure": ("aws",),
    "spawn": ("expect", "send", "send_user", "sendline"),
    "chpasswd": ("echo", "printf"),
    "secrets": ("echo", "printf"),
    "secret": ("echo", "printf"),
    "vercel": ("echo", "printf"),
    "unseal": ("vault",),
    "keyvault": ("az",),
    "securestring": ("aws",),
    "keychain": ("security",),
    "codesign": ("security",),
}
"""Commands that are common and take a secret only together with another word."""


def _command_words() -> Iterator[bytes]:
    """The words by which commands with secrets are found, also behind the letter of an escaped line end."""
    rare = set(COMMAND_NAMES) - {name for names in _ONLY_WITH.values() for name in names}
    for word in (
        {max(re.split(r"[-_]", name.lower()), key=len) for name in rare} | set(_ONLY_WITH) | {"expect", "unlock"}
    ):
        yield from (before + word.encode() for before in (b"", b"n", b"t", b"r"))


_COMMAND_WORDS = frozenset(_command_words())
_AS_WORDS = bytes(byte if (chr(byte).isalnum() and byte < 128) or byte >= 128 else 32 for byte in range(256))


def may_hold_secret(text: str, rules: Rules | None = None) -> bool:
    """Whether a text is worth searching for secrets; by the built-in rules, unless others are given."""
    if len(text) < _SHORTEST:
        return False
    if (rules or built_in()).may_find(text):
        return True
    if "PRIVATE KEY" in text or ("@" in text and _USERINFO.search(text)):
        return True
    small = text.lower()
    return _has_name(text, small) or _has_other_sign(text, small) or _has_word(text, small)


def _has_name(text: str, small: str) -> bool:
    """Whether there is a secret name where its value may follow."""
    has_word = False
    for word, pattern in _NAMES:
        if word in small:
            has_word = True
            if pattern.search(small):
                return True
    return has_word and _named_otherwise(text, small)


def _has_other_sign(text: str, small: str) -> bool:
    """Whether a text shows a secret that needs no name."""
    if ("\\u" in text or not text.isascii()) and (_ELSEWHERE.search(text) or _ESCAPED.search(text)):
        return True
    if ("bearer" in small or "basic" in small) and _BEARER.search(small) is not None:
        return True
    return may_hold_url_secret(text, small) or may_hold_file_secret(text)


def _has_word(text: str, small: str) -> bool:
    """Whether a text holds a word of a secret, or a command with a secret among its arguments."""
    words = small.encode("utf-8", "replace").translate(_AS_WORDS).split()
    if not _IN_WORDS.isdisjoint(words) or (b"login" in words and ("(" in text or "/" in text)):
        return True
    return not _COMMAND_WORDS.isdisjoint(words) and may_hold_command_secret(text)


def _named_otherwise(text: str, small: str) -> bool:
    """Whether there is a word for secrets where a value may follow without a sign."""
    if "pass" in small and _SAYS_PASSWORD.search(small):
        return True
    return (
        ("-" in small and _FLAG.search(small) is not None)
        or _BEFORE_VALUE.search(small) is not None
        or may_hold_markup_secret(text)
        or ("insert" in small and "values" in small)
        or ("value" in small and _LABEL.search(small) is not None)
        or _HEADING.search(small) is not None
    )
