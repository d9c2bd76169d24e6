"""Secrets inside addresses: `postgres://user:password@host/db`, and the signatures and keys of a query."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact import judge
from stenograph.redact.span import Span

_USERINFO = re.compile(
    r"://[^\s/:@\"'`\\<>\[]*+:((?>(?:[^\s/@\"'`\\\[]++|\[(?!masked:)|@(?=[^\s/@\"'`\\]{0,80}@)){1,999}))@(?=[\w\[{$<%])"
)
_DRIVER = re.compile(
    r"(?<![\w/\[.-])[\w.-]{1,60}+:((?>(?:[^\s:/@\"'`\\\[]|\[(?!masked:)){1,128}))@(?:tcp|unix)\(", re.ASCII
)
"""What the driver of MySQL for Go is given."""
_EXAMPLES = frozenset(("password", "passwd", "pass", "pwd", "secret", "token"))
"""What documentation writes in place of a password."""
_LONE_USER = re.compile(r"://((?>(?:[^\s/:@\"'`\\\[]|\[(?!masked:)){20,256}))@(?=[\w])", re.ASCII)
_ORACLE = re.compile(r"jdbc:oracle:\w{1,8}:[\w.$]{1,60}+/((?>(?:[^\s@\"'`\\\[]|\[(?!masked:)){1,128}))@", re.ASCII)
_SIGNED = re.compile(
    r"(?:[?&;]|&amp;|\\u0026)(?:x-(?:amz|goog|oss|ms|cos)-(?:signature|security-token)|signature|sig|hmac|hash_sig"
    r"|auth_sig|sign"
    r"|q-signature|awsaccesskeyid|sas|st_token)=([A-Za-z0-9%+/=_.~-]{4,}+)",
    re.ASCII | re.IGNORECASE,
)


def url_secrets(text: str) -> Iterator[Span]:
    """The passwords and signatures in addresses."""
    if "@" in text:
        for pattern in (_USERINFO, _ORACLE, _DRIVER):
            for match in pattern.finditer(text):
                if not judge.is_placeholder(match[1]) and match[1].lower() not in _EXAMPLES:
                    yield Span(*match.span(1), "password")
        for match in _LONE_USER.finditer(text):
            if judge.is_random(match[1]):
                yield Span(*match.span(1), "token")
    if "=" in text:
        for match in _SIGNED.finditer(text):
            if not judge.is_placeholder(match[1]):
                yield Span(*match.span(1), "signature")


def may_hold_url_secret(text: str, small: str) -> bool:
    """Whether a text may hold an address with a signature; `small` is the text in small letters."""
    return ("sig" in small or "hmac" in small) and _SIGNED.search(text) is not None
