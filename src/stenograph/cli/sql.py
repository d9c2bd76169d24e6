"""`steno sql`: questions to the archive."""

from __future__ import annotations

import sys
from typing import Any

import click

from stenograph.cli.archive import open_archive
from stenograph.cli.options import print_json, write_text
from stenograph.cli.scope import prices_option
from stenograph.cli.table import form_options, print_rows
from stenograph.query.archive_database import views_of
from stenograph.query.prices import load_prices
from stenograph.query.sql import Limits, run_sql
from stenograph.query.views import EXAMPLES, VIEWS


@click.command(
    "sql",
    epilog="""Example: steno sql "SELECT agent, count(*) AS runs FROM runs GROUP BY agent" """,
    short_help="Ask the archive in SQL.",
)
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--schema", is_flag=True, help="List the views, their columns and some useful queries.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    metavar="SECONDS",
    show_default=True,
    help="Stop a query after this long.",
)
@click.option(
    "--max-rows",
    type=click.IntRange(min=1),
    default=100_000,
    metavar="N",
    show_default=True,
    help="Refuse a result with more rows.",
)
@prices_option
@form_options
def command(
    query: str | None, schema: bool, timeout: float, max_rows: int, prices: str | None, form: str | None
) -> None:
    """Ask the archive one SELECT of SQLite, over the views runs, events, entries, tool_calls, messages, usage, errors.

    Nothing can be written, attached or loaded, and nothing runs for ever. QUERY may be - for standard input.
    """
    if schema:
        print_json(_schema()) if form == "json" else write_text(_schema_text())
        return
    if query is None:
        raise click.UsageError("Missing argument 'QUERY'; --schema says what there is to ask for.")
    statement = sys.stdin.read() if query == "-" else query
    with open_archive() as archive, views_of(archive, load_prices(prices)) as connection:
        result = run_sql(connection, statement, Limits(rows=max_rows, seconds=timeout))
        print_rows(result.columns, result, form)


def _schema() -> dict[str, Any]:
    views = [
        {
            "name": view.name,
            "about": view.about,
            "columns": [{"name": name, "about": about} for name, (_, about) in view.columns.items()],
        }
        for view in VIEWS
    ]
    return {"views": views, "queries": [{"about": about, "sql": sql} for about, sql in EXAMPLES]}


def _schema_text() -> str:
    lines: list[str] = []
    for view in VIEWS:
        lines.append(f"{view.name}: {view.about}")
        width = max(map(len, view.columns))
        lines += [f"  {name:{width}}  {about}" for name, (_, about) in view.columns.items()]
        lines.append("")
    lines.append("Useful queries")
    for about, sql in EXAMPLES:
        lines += ["", f"-- {about}", sql]
    return "\n".join(lines) + "\n"
