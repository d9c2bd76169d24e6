"""Values of which a part is secret: `Authorization`, `Cookie` and `Set-Cookie`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.base64_text import unpacked
from stenograph.redact.judge import is_placeholder, is_random, is_words, looks_secret
from stenograph.redact.span import Span

_SCHEME = re.compile(
    r"[ \t]*+(?:(?:Bearer|Basic|[a-z-]{0,24}(?:Token|Key)|Digest|Negotiate|NTLM|SSWS|Splunk|AWS4-HMAC-SHA256|AWS|OAuth"
    r"|Bot"
    r"|JWT|Hawk|MAC|Signature)[ \t]++|PVEAPIToken=[^\s=]{1,80}+=)?",
    re.ASCII | re.IGNORECASE,
)
_BEARER = re.compile(r"bearer(?:[ \t]{1,4}|%20|\+)([a-z0-9._~+/-]{16,}+={0,2})", re.ASCII)
_BASIC = re.compile(r"(?<![A-Za-z])(?i:basic)(?:[ \t]{1,4}|%20|\+)([A-Za-z0-9+/]{8,}+={0,2})", re.ASCII)
_OTHER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,30}+[ \t]++(?=[^\s\"'`\\]{8})", re.ASCII)
_PARAMETER = re.compile(
    r"[ \t,]{0,8}+(?P<name>[A-Za-z_]{2,40}+)="
    r"(?:\\{0,7}+\"(?P<quoted>[^\"\\\r\n\[]{0,999}+)\\{0,7}+\"|(?P<bare>[^\s,\"'`\\\[]{1,999}+)(?=,|\s|\Z))",
    re.ASCII,
)
_SECRET_PARAMETER = re.compile(
    r".*(?:response|signature|mac|token|credential|secret|key|pass)", re.ASCII | re.IGNORECASE
)
_CREDENTIALS = re.compile(r"[A-Za-z0-9._~+/=:-]{4,}+(?![({])", re.ASCII)
_PAIR = re.compile(
    r"(?<![^\s;,:=\"'`\\])(?!(?:path|expires|domain|samesite|max-age|priority|version)=)"
    r"[^\s=:;,\"'`\\\[\]]++=((?>(?:[^\s;,\"'`\\\[]++|\[(?!masked:)){1,999}))",
    re.IGNORECASE,
)
_ENOUGH = 512
_LONGEST_LIST = 4096
_HEADER_LINE = re.compile(r"[^\r\n\"'`\\]*+")
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")


def parts_of(kind: str, text: str, start: int, end: int) -> list[Span]:
    """The secret parts of a value that was judged secret: all of it, unless its kind has a form of its own."""
    if kind == "authorization":
        start = scheme_end(text, start, end)
    if kind == "cookie":
        pairs = list(_PAIR.finditer(text, start, end))
        if pairs:
            return [Span(*pair.span(1), kind) for pair in pairs if not is_placeholder(pair[1])]
    # Line by line, so that a masked text has as many lines as before.
    return [Span(*line.span(), kind) for line in _LINE.finditer(text, start, end)]


def scheme_end(text: str, start: int, end: int) -> int:
    """Where the credentials of an `Authorization` value begin."""
    match = _SCHEME.match(text, start, end)
    return match.end() if match else start


def cookies_at(text: str, start: int) -> list[Span]:
    """The values of the cookies that a header's line lists from `start` on."""
    if not _PAIR.match(text, start):
        return []
    line = _HEADER_LINE.match(text, start)
    return parts_of("cookie", text, start, line.end()) if line else []


def credentials_at(text: str, start: int, stop: int) -> list[Span]:
    """The credentials of an `Authorization` header whose value begins at `start`; prose about it has none.

    They are judged by the text before `stop`, so that time stays linear; the mask then covers all of them.
    """
    secret_start = scheme_end(text, start, len(text))
    if secret_start > start:
        stop = secret_start + _ENOUGH
    if "=" in text[secret_start:stop] and (spans := list(_parameters(text, secret_start))):
        return spans
    match = _CREDENTIALS.match(text, secret_start, stop)
    if secret_start == start and (match is None or not is_random(match[0])):
        return _of_other_scheme(text, start, stop)
    if match is None or is_words(match[0].rstrip(".,:")) or is_placeholder(match[0]):
        return []
    whole = _CREDENTIALS.match(text, secret_start) or match
    return [Span(*whole.span(), "authorization")]


def _parameters(text: str, start: int) -> Iterator[Span]:
    """The secret ones among the parameters of `Authorization: Digest username="ada", response="…"`."""
    stop = start + _LONGEST_LIST
    while match := _PARAMETER.match(text, start, stop):
        start = match.end()
        group = "bare" if match["quoted"] is None else "quoted"
        if _SECRET_PARAMETER.fullmatch(match["name"]) and match[group] and not is_placeholder(match[group]):
            yield Span(*match.span(group), "authorization")


def _of_other_scheme(text: str, start: int, stop: int) -> list[Span]:
    """Credentials behind a word that may be a scheme, or alone in a string; most of what follows here is code."""
    scheme = _OTHER_SCHEME.match(text, start, stop)
    match = _CREDENTIALS.match(text, scheme.end() if scheme else start, stop)
    if match is None or len(match[0]) < 8 or not looks_secret(match[0]) or is_placeholder(match[0]):
        return []
    is_in_string = text[match.end() : match.end() + 1] in ("'", '"')
    return [Span(*match.span(), "authorization")] if scheme or is_in_string else []


def bearer_tokens(text: str, small: str) -> Iterator[Span]:
    """Bearer tokens, also where no header is named; `small` is the text in small letters."""
    for match in _BEARER.finditer(small):
        start, end = match.span(1)
        if not is_words(text[start:end]) and not is_placeholder(text[start:end]):
            yield Span(start, end, "authorization")
    if "basic" in small:
        for match in _BASIC.finditer(text):
            login = unpacked(match[1])
            if login.isascii() and login.isprintable() and ":" in login[1:]:
                yield Span(*match.span(1), "authorization")
