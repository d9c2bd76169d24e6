"""Patterns of paths, as layouts write them (`stenograph.formats.layout`)."""

from __future__ import annotations

import glob
import re
from functools import cache

_PIECES = re.compile(r"(\*\*/|\*|\{\w+\})")


def glob_of(pattern: str, **values: str) -> str:
    """The pattern for `Path.glob`, with these words replaced by values."""

    def piece(text: str) -> str:
        if not text.startswith("{"):
            return text if text.startswith("*") else glob.escape(text)
        return glob.escape(values[text[1:-1]]) if text[1:-1] in values else "*"

    return "".join(map(piece, _PIECES.split(pattern)))


def words_in(pattern: str, path: str) -> dict[str, str] | None:
    """The values of the pattern's words in a path; None when the path does not match."""
    found = _expression(pattern).fullmatch(path)
    return None if found is None else found.groupdict()


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    pieces, seen = [], set[str]()
    for text in _PIECES.split(pattern):
        if text == "**/":
            pieces.append("(?:[^/]+/)*")
        elif text == "*":
            pieces.append("[^/]*")
        elif text in seen:
            pieces.append(f"(?P={text[1:-1]})")
        elif text.startswith("{"):
            pieces.append(f"(?P<{text[1:-1]}>[^/]*)")
            seen.add(text)
        else:
            pieces.append(re.escape(text))
    return re.compile("".join(pieces), re.DOTALL)
