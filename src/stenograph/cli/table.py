"""Rows for people and programs: a table, JSON or CSV, written as they come.

When the rows end in an error, what came before it is printed whole first: a table is complete, JSON is closed.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, TypeVar

import click
import msgspec

from stenograph.cli.options import write_bytes, write_text
from stenograph.cli.terminal import cut, width
from stenograph.errors import StenographError
from stenograph.model import mend
from stenograph.render.control_chars import on_one_line, visible
from stenograph.runs.rows import distinct

F = TypeVar("F", bound=Callable[..., Any])
Row = Sequence[Any]

_MEASURED = 500
"""How many rows are measured to set the widths of the columns."""
_WIDEST = 60
"""The widest a column gets where nothing is cut; a longer value runs over it."""
_NARROWEST = 6
_GAP = "  "


def form_options(command: F) -> F:
    """`--json` and `--csv`; a table without them."""
    for form, text in (("csv", "Print CSV."), ("json", "Print JSON: an array with one object per row.")):
        command = click.option(f"--{form}", "form", flag_value=form, default=None, help=text)(command)
    return command


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print objects as CSV: the values of these fields; lists and objects among them as JSON."""
    print_rows(columns, ([_flat(row[name]) for name in columns] for row in rows), "csv")


def print_objects(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], form: str) -> None:
    """Print objects with these fields as `csv`, or as `json`: an array with one object per line."""
    if form == "csv":
        print_csv(columns, rows)
        return
    lines = b",\n".join(map(msgspec.json.encode, rows))
    write_bytes(b"[\n%s\n]\n" % lines if lines else b"[]\n")


def _flat(value: Any) -> Any:
    return _encoded(value).decode() if isinstance(value, dict | list | tuple) else value


def print_rows(
    columns: Sequence[str], rows: Iterable[Row], form: str | None = None, *, uncut: Container[str] = ()
) -> int:
    """Print rows as `json`, `csv` or, by default, a table; returns their number.

    A table fits the terminal: texts are cut, numbers and the columns of `uncut` are not; where it still does not fit,
    each row is printed as one field per line.
    """
    with _error_last(rows) as safe:
        if form == "json":
            return _print_json(columns, safe)
        if form == "csv":
            return _print_csv(columns, safe)
        return _print_table(columns, safe, uncut)


def print_fitted(
    head: Sequence[str], rows: Sequence[Sequence[object]], optional: Sequence[str], flexible: str, least: int
) -> None:
    """Print rows as a table; in a narrow terminal, leave out the `optional` columns one by one, in their order.

    Only the `flexible` column may be cut, to `least` characters at the narrowest: a missing column is better than ids
    and numbers that are cut.
    """
    places = list(range(len(head)))
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns + len(_GAP)
        widths = [max(width(str(row[place])) for row in [head, *rows]) + len(_GAP) for place in places]
        flexible_place = head.index(flexible)
        widths[flexible_place] = min(widths[flexible_place], least + len(_GAP))
        for name in optional:
            if sum(widths[place] for place in places) > room:
                places.remove(head.index(name))
    shown = [head[place] for place in places]
    rows = [[row[place] for place in places] for row in rows]
    print_rows(shown, rows, uncut=[name for name in shown if name != flexible])


@contextmanager
def _error_last(rows: Iterable[Row]) -> Iterator[Iterator[Row]]:
    """The rows up to an error of ours, which is raised after they were printed."""
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


def _encoded(fields: Any) -> bytes:
    try:
        return msgspec.json.encode(fields)
    except UnicodeEncodeError:
        return msgspec.json.encode(mend.scrub(fields)[0])


def _plain(value: Any) -> Any:
    """A blob as SQL writes it, since JSON has no bytes."""
    return f"x'{value.hex()}'" if isinstance(value, bytes) else value


def _print_csv(columns: Sequence[str], rows: Iterator[Row]) -> int:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    count = -1
    for row in chain([columns], rows):
        writer.writerow([_plain(value) for value in row])
        text = buffer.getvalue()
        write_text(visible(text) if sys.stdout.isatty() else text)
        buffer.seek(0)
        buffer.truncate()
        count += 1
    return count


def _print_table(columns: Sequence[str], rows: Iterator[Row], uncut: Container[str]) -> int:
    is_terminal = sys.stdout.isatty()
    head = [on_one_line(column) for column in columns]
    first = [_cells(row) for row in islice(rows, _MEASURED)]
    is_number = [all(_is_number(row[place]) for row, _ in first) and bool(first) for place in range(len(head))]
    widths = [max(map(width, column)) for column in zip(head, *(cells for _, cells in first), strict=True)]
    if is_terminal:
        is_fixed = [number or name in uncut for number, name in zip(is_number, columns, strict=True)]
        fitted = _fitted(widths, is_fixed, shutil.get_terminal_size().columns)
        if fitted is None:
            return _print_fields(head, chain(first, map(_cells, rows)))
        widths = fitted
    else:
        widths = [min(each, _WIDEST) for each in widths]
    write_text(_line(head, widths, is_number, is_cut=is_terminal) + _line(["─" * each for each in widths], widths, []))
    count = 0
    for _, cells in chain(first, map(_cells, rows)):
        write_text(_line(cells, widths, is_number, is_cut=is_terminal))
        count += 1
    return count


def _print_fields(head: list[str], rows: Iterable[tuple[Row, list[str]]]) -> int:
    """Each row as a block of its fields, for a terminal that is too narrow for a table."""
    longest = max(map(width, head))
    count = 0
    for _, cells in rows:
        lines = [
            f"{name}{' ' * (longest - width(name))}  {cell}".rstrip() for name, cell in zip(head, cells, strict=True)
        ]
        write_text(("\n" if count else "") + "\n".join(lines) + "\n")
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


def _fitted(widths: list[int], is_fixed: list[bool], room: int) -> list[int] | None:
    """Widths that fit the room, by narrowing the widest columns that may be cut; None where it is too narrow."""
    room -= len(_GAP) * (len(widths) - 1) + sum(each for each, fixed in zip(widths, is_fixed, strict=True) if fixed)
    texts = [each for each, fixed in zip(widths, is_fixed, strict=True) if not fixed]
    if room < 0 or sum(min(each, _NARROWEST) for each in texts) > room:
        return None
    cap = max(texts, default=0)
    while sum(min(each, cap) for each in texts) > room:
        cap -= 1
    return [each if fixed else min(each, cap) for each, fixed in zip(widths, is_fixed, strict=True)]


def _line(cells: list[str], widths: list[int], is_number: list[bool], *, is_cut: bool = False) -> str:
    parts = []
    for place, (cell, columns) in enumerate(zip(cells, widths, strict=True)):
        text = cut(cell, columns) if is_cut and not (is_number and is_number[place]) else cell
        pad = " " * (columns - width(text))
        parts.append(pad + text if is_number and is_number[place] else text + pad)
    return _GAP.join(parts).rstrip() + "\n"
