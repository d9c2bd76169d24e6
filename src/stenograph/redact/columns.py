"""Tables: a column or row with the name of a secret, in CSV, TSV, Markdown and the output of databases."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from stenograph.redact import judge
from stenograph.redact.name import Grade, Secret, secret_of
from stenograph.redact.span import Span

_CELL = r"[\w \"'*`@./-]{1,40}"
_HEADER = re.compile(
    rf"^(?:\|[ \t]*+)?(?P<cells>{_CELL}(?:(?P<separator>[,;\t|]){_CELL}){{1,30}})(?:[ \t]*+\|)?[ \t]*+\r?$",
    re.MULTILINE,
)
_ROW_PAIR = re.compile(
    r"^[ \t]*+\|[ \t]*+[*`]{0,3}(?P<name>[\w .-]{2,40}?)[*`]{0,3}[ \t]*+\|[ \t]*+`?(?P<value>[^\s|`\[][^"
    r"|\r\n`\[]{0,200}?)`?[ \t]*+\|",
    re.MULTILINE,
)
_RULE = re.compile(r"[\s|:+-]+")
_FRAMES = str.maketrans("│┃", "||")
_FRAME = re.compile(r"[\s|:+=\u2500-\u257f-]+")
"""A line between the rows of a table, as databases and terminals draw it."""
_MOST_ROWS = 2000
_MARKS = " \t\"'*`"
_LONGEST_LINE = 4000


def column_secrets(text: str) -> Iterator[Span]:
    """The cells of columns and rows whose heading is the name of a secret."""
    text = text.translate(_FRAMES) if "│" in text or "┃" in text else text
    if "\n" in text:
        done = 0
        for match in _HEADER.finditer(text):
            if match.start() >= done:
                secret = _secret_columns(match)
                if secret:
                    done = yield from _rows(text, match, secret)
    if "|" in text:
        for match in _ROW_PAIR.finditer(text):
            named = _named(match["name"])
            if named is not None and _is_believed(match["value"]) and _named(match["value"]) is None:
                yield Span(*match.span("value"), named.kind)


def _secret_columns(header: re.Match[str]) -> dict[int, Secret]:
    names = header["cells"].split(header["separator"])
    return {number: named for number, name in enumerate(names) if (named := _named(name)) is not None}


def _named(cell: str) -> Secret | None:
    name = cell.strip(_MARKS)
    secret = secret_of(name.replace(" ", "_")) if name else None
    return secret if secret is not None and secret.grade >= Grade.FAIR else None


def _rows(text: str, header: re.Match[str], secret: dict[int, Secret]) -> Generator[Span, None, int]:
    """The secret cells of the rows below a header, as long as they have as many cells; returns where they end."""
    separator = header["separator"]
    count = header["cells"].count(separator) + 1
    at = header.end()
    for _ in range(_MOST_ROWS):
        start = text.find("\n", at) + 1
        if not start:
            break
        end = text.find("\n", start)
        at = end if end >= 0 else len(text)
        if at - start > _LONGEST_LINE:
            break
        if separator == "|" and _FRAME.fullmatch(text, start, at):
            continue
        cells = _cells(text, start, at, separator)
        if len(cells) != count:
            break
        for number, named in secret.items():
            cell_start, cell_end = cells[number]
            value = text[cell_start:cell_end]
            if value and not _RULE.fullmatch(value) and _is_believed(value):
                yield Span(cell_start, cell_end, named.kind)
    return at


def _cells(text: str, start: int, end: int, separator: str) -> list[tuple[int, int]]:
    """Where the cells of a line begin and end, without blanks and quotes."""
    if separator == "|":
        line = text[start:end]
        start += len(line) - len(line.lstrip(" \t|"))
        end -= len(line) - len(line.rstrip(" \t\r|"))
    cells = []
    for piece in text[start:end].split(separator):
        inner = piece.strip(_MARKS + "\r")
        at = start + piece.find(inner)
        cells.append((at, at + len(inner)))
        start += len(piece) + 1
    return cells


def _is_believed(value: str) -> bool:
    if judge.is_placeholder(value) or judge.is_no_value(value) or len(value) < 4:
        return False
    return " " not in value and not judge.is_path(value)
