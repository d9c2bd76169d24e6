"""`steno query`: questions to a bundle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from stenograph.cli.options import print_json, write_text
from stenograph.cli.table import form_options, print_rows
from stenograph.query.bundle_database import bundle_database
from stenograph.query.bundle_tables import EXAMPLES, TABLES
from stenograph.query.sql import Limits, run_sql

MEMORY = 1 << 30
"""What SQLite may hold; beyond it a query is stopped."""


@click.command(
    "query",
    epilog="""Example: steno query bundle.zip "SELECT tool_name, count(*) FROM tool_calls GROUP BY 1" """,
    short_help="Ask a debug bundle in SQL.",
)
@click.argument("bundle", metavar="BUNDLE", required=False)
@click.argument("query", metavar="QUERY", required=False)
@click.option("--schema", is_flag=True, help="List the tables, their columns and some useful queries.")
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
    default=1_000_000,
    metavar="N",
    show_default=True,
    help="Refuse a result with more rows.",
)
@form_options
def command(
    bundle: str | None, query: str | None, schema: bool, timeout: float, max_rows: int, form: str | None
) -> None:
    """Ask a debug bundle one SELECT of SQLite, over the tables that --schema lists.

    Nothing can be written, attached or loaded, and nothing runs for ever. QUERY may be - for standard input. The tables
    of a large bundle are kept beside it, in BUNDLE.sqlite, so that the next question is answered at once.
    """
    if schema:
        print_json(_schema()) if form == "json" else write_text(_schema_text())
        return
    if bundle is None or query is None:
        raise click.UsageError("Give a bundle and a query; --schema says what there is to ask for.")
    statement = sys.stdin.read() if query == "-" else query
    limits = Limits(rows=max_rows, seconds=timeout, bytes=MEMORY, heap_bytes=MEMORY)
    with bundle_database(Path(bundle), statement) as connection:
        result = run_sql(connection, statement, limits)
        print_rows(result.columns, result, form)


def _schema() -> dict[str, Any]:
    tables = [
        {
            "name": table.name,
            "about": table.about,
            "columns": [{"name": name, "about": about} for name, about in table.columns.items()],
        }
        for table in TABLES
    ]
    return {"tables": tables, "queries": [{"about": about, "sql": sql} for about, sql in EXAMPLES]}


def _schema_text() -> str:
    lines: list[str] = []
    for table in TABLES:
        lines.append(f"{table.name}: {table.about}")
        width = max(map(len, table.columns))
        lines += [f"  {name:{width}}  {about}" for name, about in table.columns.items()]
        lines.append("")
    lines.append("Useful queries")
    for about, sql in EXAMPLES:
        lines += ["", f"-- {about}", sql]
    return "\n".join(lines) + "\n"
