"""Rows for people and programs: a table, JSON or CSV, written as they come.

When the rows end in an error, what came before it is printed whole first: a table is complete, JSON is closed.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, Literal, TypeVar
from unicodedata import combining, east_asian_width

import click
import msgspec

from stenograph.cli.options import write_bytes, write_text
from stenograph.errors import StenographError
from stenograph.model import mend
from stenograph.render.visible import on_one_line
from stenograph.runs.rows import distinct

F = TypeVar("F", bound=Callable[..., Any])
Form = Literal["table", "json", "csv"]
Row = Sequence[Any]

_MEASURED = 500
"""Rows that decide how wide the columns are; later ones follow them."""
_WIDEST = 60
"""What a column has at most where nothing is cut: a longer value stands out."""
_NARROWEST = 6
_GAP = "  "


def form_options(command: F) -> F:
    """`--json` and `--csv`; a table without them."""
    for form, text in (("csv", "Print CSV."), ("json", "Print JSON: an array with one object per row.")):
        command = click.option(f"--{form}", "form", flag_value=form, default=None, help=text)(command)
    return command


def print_rows(columns: Sequence[str], rows: Iterable[Row], form: str | None = None) -> int:
    """Print rows in the form that was asked for and give their number; a table unless it says `json` or `csv`."""
    with _error_last(rows) as safe:
        if form == "json":
            return _print_json(columns, safe)
        if form == "csv":
            return _print_csv(columns, safe)
        return _print_table(columns, safe)


@contextmanager
def _error_last(rows: Iterable[Row]) -> Iterator[Iterator[Row]]:
    """The rows up to an error of ours, which is raised when they have been dealt with."""
    raised: list[StenographError] = []

    def until_error() -> Iterator[Row]:
        try:
            yield from rows
        except StenographError as error:
            raised.append(error)

    yield until_error()
    if raised:
        raise raised[0]


def _print_json(columns: Sequence[str], rows: Iterator[Row]) -> int:
    names = distinct(columns)
    count = 0
    for row in rows:
        line = _encoded(dict(zip(names, map(_plain, row), strict=True)))
        write_bytes((b",\n" if count else b"[\n") + line)
        count += 1
    write_bytes(b"\n]\n" if count else b"[]\n")
    return count


def _encoded(fields: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return msgspec.json.encode(mend.scrub(fields)[0])


def _plain(value: Any) -> Any:
    """A blob has no form in JSON; it is given as SQL writes it."""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else value


def _print_csv(columns: Sequence[str], rows: Iterator[Row]) -> int:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    count = -1
    for row in chain([columns], rows):
        writer.writerow([_plain(value) for value in row])
        write_text(buffer.getvalue())
        buffer.seek(0)
        buffer.truncate()
        count += 1
    return count


def _print_table(columns: Sequence[str], rows: Iterator[Row]) -> int:
    is_terminal = sys.stdout.isatty()
    head = [on_one_line(column) for column in columns]
    first = [_cells(row) for row in islice(rows, _MEASURED)]
    is_number = [all(_is_number(row[place]) for row, _ in first) and bool(first) for place in range(len(head))]
    widths = [max(map(_width, column)) for column in zip(head, *(cells for _, cells in first), strict=True)]
    widths = (
        _fitted(widths, shutil.get_terminal_size().columns) if is_terminal else [min(each, _WIDEST) for each in widths]
    )
    write_text(_line(head, widths, is_number) + _line(["─" * width for width in widths], widths, is_number))
    count = 0
    for _, cells in chain(first, map(_cells, rows)):
        write_text(_line(cells, widths, is_number, is_cut=is_terminal))
        count += 1
    return count


def _cells(row: Row) -> tuple[Row, list[str]]:
    return row, [_cell(value) for value in row]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}"
    return on_one_line(str(_plain(value)))


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _fitted(widths: list[int], room: int) -> list[int]:
    """Widths that fit the room where that is possible: the widest columns give way first."""
    room -= len(_GAP) * (len(widths) - 1)
    cap = min(max(widths), room)
    while cap > _NARROWEST and sum(min(width, cap) for width in widths) > room:
        cap -= 1
    return [min(width, max(cap, _NARROWEST)) for width in widths]


def _line(cells: list[str], widths: list[int], is_number: list[bool], *, is_cut: bool = False) -> str:
    parts = []
    for cell, width, is_right in zip(cells, widths, is_number, strict=True):
        text = _cut(cell, width) if is_cut else cell
        pad = " " * (width - _width(text))
        parts.append(pad + text if is_right else text + pad)
    return _GAP.join(parts).rstrip() + "\n"


def _cut(text: str, width: int) -> str:
    """The text within a width, with `…` where something is missing."""
    if _width(text) <= width:
        return text
    taken = 0
    for place, letter in enumerate(text):
        taken += _width(letter)
        if taken > width - 1:
            return text[:place] + "…"
    return text


def _width(text: str) -> int:
    """The columns that a terminal needs for a text."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
