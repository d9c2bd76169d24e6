"""Secrets in XML and HTML: the content of an element, or the value of an attribute, with a secret name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stenograph.redact.assignment import believes
from stenograph.redact.header import parts_of
from stenograph.redact.name import holds_keyword, secret_of
from stenograph.redact.span import Span

_LT, _GT = r"(?:<|&lt;)", r"(?:>|&gt;)"
_CONTENT = (
    r"(?:<!\[CDATA\[)?(?P<value>(?:[^<>&\s\[]|\[(?!masked:)|&(?!lt;|gt;))"
    r"(?>(?:[^<>&\r\n\[\]]|\[(?!masked:)|\](?!\]>|\]&gt;)|&(?!lt;|gt;)){0,400}))"
)
_ELEMENT = re.compile(
    rf"{_LT}(?:[\w-]{{1,20}}:)?(?P<name>[\w.-]{{2,60}}+)(?:[ \t][^<>]{{0,120}}+)?{_GT}\s{{0,8}}+{_CONTENT}(?=\]\]>"
    rf"|\s{{0,8}}+{_LT}\\*+/|\s*+\Z)",
    re.ASCII,
)
_NAMED = re.compile(
    rf"{_LT}[\w:.-]{{1,40}}+[ \t][^<>]{{0,120}}?(?:name|key"
    rf"|id)=\\*+[\"'](?P<name>[\w.-]{{2,80}}+)\\*+[\"'][^<>]{{0,120}}+{_GT}\s{{0,8}}+"
    rf"(?:{_LT}value{_GT}\s{{0,8}}+)?{_CONTENT}(?=\s{{0,8}}+{_LT}\\*+/)",
    re.ASCII,
)
_LISTED = re.compile(
    rf"{_LT}key{_GT}\s{{0,8}}+(?P<name>[\w.-]{{2,60}}+)\s{{0,8}}+{_LT}\\*+/key{_GT}(?>(?:\s"
    rf"|\\+[nrt]){{0,40}}){_LT}(?:string|data){_GT}\s{{0,8}}+{_CONTENT}",
    re.ASCII,
)
_INPUT = re.compile(
    rf"{_LT}input[ \t][^<>]{{0,200}}?type=\\*+[\"']?(?P<name>password)[^<>]{{0,200}}?[ \t]value=\\*+[\"']"
    rf"(?P<value>[^\"'<>\\\[]{{1,200}}+)",
    re.ASCII | re.IGNORECASE,
)
_HINT = re.compile(
    r"(?:<|&lt;)[^<>\n]{0,160}?(?:key|token|secret|pass|pwd|credential|auth|cookie)", re.ASCII | re.IGNORECASE
)


def markup_secrets(text: str, small: str) -> Iterator[Span]:
    """The contents of elements and attributes with secret names."""
    if not holds_keyword(small) or ("<" not in text and "&lt;" not in text):
        return
    for pattern in (_ELEMENT, _NAMED, _LISTED, _INPUT):
        for match in pattern.finditer(text):
            secret = secret_of(match["name"])
            if secret is not None and believes(match["value"].rstrip(), match["name"], secret):
                start = match.start("value")
                yield from parts_of(secret.kind, text, start, start + len(match["value"].rstrip()))


def may_hold_markup_secret(text: str) -> bool:
    """Whether a tag in a text has a secret name."""
    return ("<" in text or "&lt;" in text) and _HINT.search(text) is not None
