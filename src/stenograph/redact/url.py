"""Passwords inside addresses, as in `postgres://user:password@host/db`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.guess import is_placeholder
from stenograph.redact.span import Span

_USERINFO = re.compile(r"://[^\s/:@\"'`\\<>\[]*+:((?:[^\s/@\"'`\\\[]|\[(?!masked:))++)@(?=[\w\[{$<%])")


def url_passwords(text: str) -> Iterator[Span]:
    """The passwords of addresses that carry one."""
    if "@" not in text:
        return
    for match in _USERINFO.finditer(text):
        if not is_placeholder(match[1]):
            yield Span(*match.span(1), "password")
