"""Private keys in PEM: whole blocks, cut-off blocks, and blocks inside other texts.

Theory of operation. A block is read line by line, and only lines that look like a key's are taken: a mention of the
header in prose or code masks nothing, and a key whose end was cut off is masked as far as it goes. Between two lines
may stand whatever tools put there: an escaped newline at any depth, indentation, a line number, a quote mark, a diff's
sign. Quotes end a block, but when another string literal follows it goes on in there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.span import Span

_GAP = r"(?:\s|\\+[nrt]|\\(?=\s)|[|>#*]|-(?=[A-Za-z0-9+/]|-----END)|[0-9]++(?=→|\t|[|:]|\\+t)[→|:]?)"
_ENDING = r"(?=[ \t]*+(?:[\r\n]|\\+[nr]|-----END|[\"'`]|\Z))"
_LONG = r"[A-Za-z0-9+/=]{24,}+"
_SHORT = rf"[A-Za-z0-9+/=]++{_ENDING}"
_FIELD = r"[A-Z][A-Za-z-]{2,30}+: [^\r\n\\\"']{1,200}+"
_END = r"-----END [A-Z0-9 ]{0,60}+-----"
_BODY = rf"(?:{_GAP}*+(?:{_LONG}|{_SHORT}|{_FIELD}))++(?:{_GAP}*+{_END})?"
_NEXT = r"(?:\\+[nr])*+[\"'`][\s+,.\\]{0,80}+[\"'`]"

_header = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20}+ ){0,4}?PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_body = re.compile(_BODY, re.ASCII)
# Other strings may follow in a list; only a line too long for a word, or one right before the end, is the key's.
_next_literal = re.compile(rf"{_NEXT}({_LONG}{_BODY}|{_LONG}|{_END}|[A-Za-z0-9+/=]++(?={_NEXT}{_END}))", re.ASCII)


def private_keys(text: str) -> Iterator[Span]:
    """The private key blocks in a text."""
    if "PRIVATE KEY" not in text:
        return
    for header in _header.finditer(text):
        body = _body.match(text, header.end())
        if body:
            yield Span(header.start(), body.end(), "private-key")
        literal = _next_literal.match(text, (body or header).end())
        while literal:
            yield Span(*literal.span(1), "private-key")
            literal = _next_literal.match(text, literal.end())
