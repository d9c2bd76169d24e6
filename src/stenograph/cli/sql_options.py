"""Options and output that `steno sql` and `steno query` share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from stenograph.cli.options import print_json, write_text

F = TypeVar("F", bound=Callable[..., Any])
Described = tuple[str, str, Mapping[str, str]]
"""A table or view: its name, its description, and its columns with their descriptions."""


def limit_options(max_rows: int) -> Callable[[F], F]:
    """`--timeout` and `--max-rows`."""

    def add(command: F) -> F:
        command = click.option(
            "--max-rows",
            type=click.IntRange(min=1),
            default=max_rows,
            metavar="N",
            show_default=True,
            help="Refuse a result with more rows.",
        )(command)
        return click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=30.0,
            metavar="SECONDS",
            show_default=True,
            help="Stop a query after this long.",
        )(command)

    return add


def statement_of(query: str) -> str:
    """The query, or standard input if it is `-`."""
    return sys.stdin.read() if query == "-" else query


def print_schema(
    kind: str, described: Iterable[Described], examples: Iterable[tuple[str, str]], form: str | None
) -> None:
    """Print the tables or views (`kind` says which) and some useful queries."""
    if form == "json":
        found = [
            {"name": name, "about": about, "columns": [{"name": each, "about": what} for each, what in columns.items()]}
            for name, about, columns in described
        ]
        print_json({kind: found, "queries": [{"about": about, "sql": sql} for about, sql in examples]})
        return
    lines: list[str] = []
    for name, about, columns in described:
        width = max(map(len, columns))
        lines += [f"{name}: {about}", *(f"  {each:{width}}  {what}" for each, what in columns.items()), ""]
    lines.append("Useful queries")
    for about, sql in examples:
        lines += ["", f"-- {about}", sql]
    write_text("\n".join(lines) + "\n")
