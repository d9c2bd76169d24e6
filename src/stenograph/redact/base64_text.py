"""Secrets inside base64: in `data:` addresses, in attachments of a source line, in the output of `base64`."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator

from stenograph.redact.span import Span

_SHORTEST = 24
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_RUN = re.compile(
    rf"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{{{_SHORTEST},}}+(?:(?:\r?\n|\\+n)[A-Za-z0-9+/]++)*+={{0,2}}", re.ASCII
)
_LINE = re.compile(r"(?:[^\r\n\\]|\\(?!n))+")
_LINE_END = re.compile(r"[\r\n]+|\\+n")
_LETTERS = bytes(120 if byte in _ALPHABET else 32 for byte in range(256))
_LONG = b"x" * _SHORTEST
# Four letters are three bytes; where the first byte is ASCII, the first letter is none of the last 32.
_ASCII = re.compile(rf"(?:[A-Za-f][A-Za-z0-9+/]{{3}}){{{_SHORTEST // 4}}}", re.ASCII)


def holds_packed(text: str, may_hold: Callable[[str], bool]) -> bool:
    """Whether the content of any base64 in a text is worth searching."""
    return any(may_hold(content) for _, content in _contents(text))


def packed_secrets(text: str, find: Callable[[str], list[Span]]) -> Iterator[Span]:
    """Runs of base64 whose content holds a secret; the whole run is masked, line by line."""
    for run, content in _contents(text):
        found = find(content)
        if found:
            yield from (Span(*line.span(), found[0].kind) for line in _LINE.finditer(text, *run.span()))


def _contents(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The runs of base64 with ASCII content, each with its content."""
    if len(text) < _SHORTEST or _LONG not in text.encode("utf-8", "replace").translate(_LETTERS):
        return
    for run in _RUN.finditer(text):
        if _ASCII.search(run[0]) and (content := unpacked(run[0])):
            yield run, content


def unpacked(packed: str) -> str:
    """The content of base64, whether it is text or not; empty when it is not base64."""
    letters = _LINE_END.sub("", packed).rstrip("=")
    whole = letters[: len(letters) - (len(letters) % 4 == 1)]
    try:
        return binascii.a2b_base64(whole + "=" * (-len(whole) % 4)).decode("utf-8", "surrogateescape")
    except ValueError:
        return ""
