"""Values of which a part is secret: `Authorization`, `Cookie` and `Set-Cookie`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.judge import is_placeholder, is_random, is_words
from stenograph.redact.span import Span

_SCHEME = re.compile(
    r"[ \t]*+(?:(?:Bearer|Basic|Token|Digest|Api-?Key|Key|Negotiate|NTLM|SSWS|Splunk|AWS4-HMAC-SHA256)[ \t]++)?",
    re.ASCII | re.IGNORECASE,
)
_BEARER = re.compile(r"bearer(?:[ \t]{1,4}|%20|\+)([a-z0-9._~+/-]{16,}+={0,2})", re.ASCII)
_CREDENTIALS = re.compile(r"[A-Za-z0-9._~+/=:-]{4,}+(?![({])", re.ASCII)
_PAIR = re.compile(
    r"(?<![^\s;,:=\"'`\\])(?!(?:path|expires|domain|samesite|max-age|priority|version)=)"
    r"[^\s=:;,\"'`\\\[\]]++=((?>(?:[^\s;,\"'`\\\[]++|\[(?!masked:)){1,999}))",
    re.IGNORECASE,
)
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
    match = _CREDENTIALS.match(text, secret_start, stop)
    if match is None or is_words(match[0].rstrip(".,:")) or is_placeholder(match[0]):
        return []
    # Without a scheme, most of what follows the word is code.
    if secret_start == start and not is_random(match[0]):
        return []
    whole = _CREDENTIALS.match(text, secret_start) or match
    return [Span(*whole.span(), "authorization")]


def bearer_tokens(text: str, small: str) -> Iterator[Span]:
    """Bearer tokens, also where no header is named; `small` is the text in small letters."""
    for match in _BEARER.finditer(small):
        start, end = match.span(1)
        if not is_words(text[start:end]) and not is_placeholder(text[start:end]):
            yield Span(start, end, "authorization")
