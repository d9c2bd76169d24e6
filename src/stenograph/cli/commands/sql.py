"""`steno sql`: SQL over the archive."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from stenograph.cli.freshness import sync_option
from stenograph.cli.options import archive_option, redact_option, report_masked, run_mask
from stenograph.cli.scope import prices_option
from stenograph.cli.sql_options import limit_options, print_schema, statement_of
from stenograph.cli.store import store_options
from stenograph.cli.table import form_options, print_rows
from stenograph.query.sql import Limits
from stenograph.query.sql_process import SqlProcess
from stenograph.query.views import EXAMPLES, VIEWS
from stenograph.runs.archive import open_archive, views

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive


def _of_store(
    archive: StoreArchive,
    query: str | None,
    schema: bool,
    timeout: float,
    max_rows: int,
    redact: bool,
    prices: str | None,
    form: str | None,
) -> None:
    """Query the runs of all machines in a store, in DuckDB's SQL."""
    if schema:
        _print_schema(form)
        return
    from stenograph.fleet.lake.asking import ask
    from stenograph.query.prices import load_prices

    limits = Limits(rows=max_rows, seconds=timeout)
    result = ask(archive.lake, _statement(query), load_prices(prices), limits)
    mask = run_mask() if redact else None
    print_rows(result.columns, result if mask is None else mask.rows(result.columns, result), form)
    if mask is not None:
        report_masked(mask.counts)


def _print_schema(form: str | None) -> None:
    print_schema(
        "views",
        [(view.name, view.about, {name: about for name, (_, about) in view.columns.items()}) for view in VIEWS],
        EXAMPLES,
        form,
    )


def _statement(query: str | None) -> str:
    if query is None:
        raise click.UsageError("Missing argument 'QUERY'; --schema lists the views.")
    return statement_of(query)


@click.command(
    "sql",
    epilog="""Example: steno sql "SELECT agent, count(*) AS runs FROM runs GROUP BY agent" """,
)
@store_options(_of_store)
@click.argument("query", metavar="[QUERY]", required=False)
@click.option("--schema", is_flag=True, help="List the views, their columns and some useful queries.")
@limit_options(100_000)
@prices_option
@redact_option
@archive_option
@sync_option
@form_options
def command(
    query: str | None,
    schema: bool,
    timeout: float,
    max_rows: int,
    redact: bool,
    prices: str | None,
    archive_dir: str | None,
    form: str | None,
) -> None:
    """Run one SELECT (SQLite) over the archive's views runs, events, entries, tool_calls, messages, usage, errors.

    With --store, it is a SELECT of DuckDB over the same views of all machines' runs.

    A query cannot write, attach or load anything, and it has a time limit. QUERY may be - for standard input.
    """
    if schema:
        _print_schema(form)
        return
    statement = _statement(query)

    @contextmanager
    def opening() -> Iterator[sqlite3.Connection]:
        with open_archive(archive_dir) as archive, views(archive, prices) as connection:
            yield connection

    limits = Limits(rows=max_rows, seconds=timeout)
    with SqlProcess(opening, statement, limits, only_views=True) as result:
        mask = run_mask() if redact else None
        print_rows(result.columns, result if mask is None else mask.rows(result.columns, result), form)
    if mask is not None:
        report_masked(mask.counts)
