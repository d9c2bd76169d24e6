"""Passwords that a command line gives to curl, as in `curl -u user:password https://…`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.guess import is_placeholder
from stenograph.redact.span import Span

_USER = re.compile(
    r"(?<=[ \t])(?:-[uU][ \t]{0,4}+|--(?:proxy-)?user(?:=|[ \t]{1,4}+))(?:\\{0,7}+[\"'])?"
    r"[^\s:\"'`\\\[]{1,64}+:((?:[^\s\"'`\\\[]|\[(?!masked:))++)"
)
_SEPARATOR = re.compile(r"[|;&]|(?<!\\)\n")
_CURL = re.compile(r"(?<![\w-])curl(?![\w-])", re.ASCII)
_NEAR = 400
"""Characters before the option in which the command must be named: other commands mean other things by `-u`."""


def curl_passwords(text: str) -> Iterator[Span]:
    """The passwords among the options of curl."""
    if "curl" not in text:
        return
    for match in _USER.finditer(text):
        before = text[max(0, match.start() - _NEAR) : match.start()]
        if _CURL.search(_SEPARATOR.split(before)[-1]) and not is_placeholder(match[1]):
            yield Span(*match.span(1), "password")
