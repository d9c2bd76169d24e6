"""Private keys in PEM: whole blocks, cut-off blocks, and blocks inside other texts.

Theory of operation. A block is read line by line, and only lines that look like a key's are matched: a mention of the
header in prose or code masks nothing, and a key whose end was cut off is masked as far as it goes. Two lines
may be separated by whatever tools insert: an escaped newline at any depth, indentation, a line number, a quote mark,
a diff's sign. Quotes end a block, unless another string literal follows and continues it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.span import Span

_gap = r"(?:\s|\\+[nrt]|\\(?=\s)|[|>#*]|-(?=[A-Za-z0-9+/]|-----END)|[0-9]++(?=→|\t|[|:]|\\+t)[→|:]?)"
_line_end = r"(?=[ \t]*+(?:[\r\n]|\\+[nr]|-----END|[\"'`]|\Z))"
_long_line = r"[A-Za-z0-9+/=]{24,}+"
_line = rf"(?:{_long_line}|[A-Za-z0-9+/=]++{_line_end}|[A-Z][A-Za-z-]{{2,30}}+: [^\r\n\\\"']{{1,200}}+)"
_end = r"-----END [A-Z0-9 ]{0,60}+-----"
_lines = rf"(?>(?:(?>{_gap}*){_line})+)(?:(?>{_gap}*){_end})?"
_next = r"(?>(?:\\+[nr])*)[\"'`][\s+,.\\]{0,80}+[\"'`]"

_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20}+ ){0,4}?PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_LINES = re.compile(_lines, re.ASCII)
# Other strings may follow in a list; only a line too long for a word, or one right before the end, is the key's.
_NEXT_LITERAL = re.compile(rf"{_next}({_long_line}(?:{_lines})?|{_end}|[A-Za-z0-9+/=]++(?={_next}{_end}))", re.ASCII)


def private_keys(text: str) -> Iterator[Span]:
    """The private key blocks in a text."""
    if "PRIVATE KEY" not in text:
        return
    for header in _HEADER.finditer(text):
        lines = _LINES.match(text, header.end())
        if lines:
            yield Span(header.start(), lines.end(), "private-key")
        literal = _NEXT_LITERAL.match(text, (lines or header).end())
        while literal:
            yield Span(*literal.span(1), "private-key")
            literal = _NEXT_LITERAL.match(text, literal.end())
