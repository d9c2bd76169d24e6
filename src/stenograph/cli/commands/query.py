"""`steno query`: SQL over a bundle."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from stenograph.cli.options import redact_option, report_masked, run_mask
from stenograph.cli.sql_options import limit_options, print_schema, statement_of
from stenograph.cli.table import form_options, print_rows
from stenograph.query.bundle_database import bundle_database
from stenograph.query.bundle_tables import EXAMPLES, TABLES
from stenograph.query.sql import Limits
from stenograph.query.sql_process import SqlProcess

MEMORY = 1 << 30
"""The memory that SQLite may use; a query that needs more is stopped."""


@click.command(
    "query",
    epilog="""Example: steno query bundle.zip "SELECT tool_name, count(*) FROM tool_calls GROUP BY 1" """,
)
@click.argument("bundle", metavar="BUNDLE", required=False)
@click.argument("query", metavar="QUERY", required=False)
@click.option("--schema", is_flag=True, help="List the tables, their columns and some useful queries.")
@limit_options(1_000_000)
@redact_option
@form_options
def command(
    bundle: str | None, query: str | None, schema: bool, timeout: float, max_rows: int, redact: bool, form: str | None
) -> None:
    """Run one SELECT (SQLite) over a debug bundle; --schema lists the tables.

    A query cannot write, attach or load anything, and it has a time limit. QUERY may be - for standard input. The
    tables of a large bundle are kept beside it in BUNDLE.sqlite, so that the next query is fast.
    """
    if schema:
        print_schema("tables", [(table.name, table.about, table.columns) for table in TABLES], EXAMPLES, form)
        return
    if bundle is None or query is None:
        raise click.UsageError("Give a bundle and a query; --schema lists the tables.")
    statement = statement_of(query)
    limits = Limits(rows=max_rows, seconds=timeout, bytes=MEMORY, heap_bytes=MEMORY)
    with SqlProcess(partial(bundle_database, Path(bundle), statement), statement, limits) as result:
        mask = run_mask() if redact else None
        print_rows(result.columns, result if mask is None else mask.rows(result.columns, result), form)
    if mask is not None:
        report_masked(mask.counts)
