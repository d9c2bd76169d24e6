"""`steno stats`: tokens, cost and tools of the archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from stenograph.cli.freshness import sync_option
from stenograph.cli.options import archive_option, print_json, say
from stenograph.cli.scope import prices_option, scope_options
from stenograph.cli.store import report_grep_period, store_options
from stenograph.cli.table import form_options, print_csv, print_fitted
from stenograph.query.short_ids import short_ids
from stenograph.query.stats import KEYS, TIMES
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import amount, bar, cost, duration
from stenograph.runs.archive import Archive, Filters, Stats
from stenograph.runs.rows import Row

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive

_BAR = 16
_TOKENS = ("input", "cached", "output", "reasoning", "calls", "cost")
_TOOLS = ("tools", "failed", "mean")
_OPTIONAL = ("reasoning", "mean", "calls", "failed", "", "cached", "tools", "output", "input")
"""Columns that a narrow terminal leaves out, in this order; the cost always stays."""
_ROOM_FOR_KEY = 20


def _of_store(
    archive: StoreArchive, by: str, filters: Filters, limit: int, prices: str | None, form: str | None
) -> None:
    """Show the totals of all machines' runs in a store."""
    report_grep_period(filters)
    found = archive.stats(by, prices=prices, **filters)
    _print(found, limit, {}, form)
    if not found.totals["runs"]:
        say(f"no run of {archive.url} matches")


@click.command("stats", epilog="Example: steno stats --by model --since 30d")
@click.option("--by", type=click.Choice(KEYS), default="day", help=f"{', '.join(KEYS)}.  [default: day]")
@scope_options
@store_options(_of_store)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Print at most N rows: the newest of times, else the largest; 0 prints all.  [default: 0]",
)
@prices_option
@archive_option
@sync_option
@form_options
def command(
    by: str, filters: Filters, limit: int, prices: str | None, archive_dir: str | None, form: str | None
) -> None:
    """Show totals of tokens, cost and tool calls in the archive.

    Every model call counts once, even if forks, resumes and repeated lines report it again. Cost is computed from a
    dated table of list prices; a model that is not in it costs "unknown", never zero. Times are local. A block is five
    hours from the full hour of the first activity, as subscriptions count. --csv prints the rows without the totals.
    """
    with Archive(archive_dir) as archive:
        found = archive.stats(by, prices=prices, **filters)
        with archive.reading() as reader:
            names = short_ids(reader.index) if by == "run" and form is None else {}
    _print(found, limit, names, form)
    if not found.totals["runs"]:
        say(f"no run of {archive.path} matches")


def _print(found: Stats, limit: int, names: Mapping[str, str], form: str | None) -> None:
    most = limit or len(found)
    shown = found[-most:] if found.by in TIMES else found[:most]
    if form == "json":
        print_json({"totals": dict(found.totals), "rows": [row.to_dict() for row in shown]})
    elif form == "csv":
        print_csv(list(found[0].to_dict()) if found else [found.by], (row.to_dict() for row in shown))
    else:
        _print_table(found, shown, names)
    if len(shown) < len(found):
        say(f"{len(shown):,} of {len(found):,} rows, --limit 0 for all; totals are of all")


def _print_table(found: Stats, shown: Sequence[Row], names: Mapping[str, str]) -> None:
    totals, has_tools = found.totals, found.by != "model"
    weights = [_weight(row, totals) for row in shown]
    most = max(weights, default=0) or 1
    rows = [
        (*_cells(row, names.get(row[found.by], row[found.by]), has_tools), bar(weight / most, _BAR))
        for row, weight in zip(shown, weights, strict=True)
    ]
    rows.append((*_cells(totals, "total", has_tools), ""))
    head = (found.by, *_TOKENS, *(_TOOLS if has_tools else ()), "")
    optional = [name for name in _OPTIONAL if name in head]
    print_fitted(head, rows, optional, found.by, _ROOM_FOR_KEY)
    unpriced = ", ".join(on_one_line(model or "(no name)") for model in totals["unpriced_models"])
    missing = f"; no price for {unpriced}" if unpriced else ""
    say(f"{totals['runs']} runs, list prices of {totals['prices_date']}{missing}")


def _weight(row: Row, totals: Row) -> float:
    """What the bars show: cost, else tokens if nothing has a price, else tool calls."""
    if totals["cost_usd"]:
        return float(row["cost_usd"] or 0)
    return float(row["input_tokens"] + row["output_tokens"] if totals["model_calls"] else row["tool_calls"])


def _cells(row: Row, key: str, has_tools: bool) -> tuple[object, ...]:
    cells = (
        key,
        amount(row["input_tokens"]),
        amount(row["cache_read_input_tokens"]),
        amount(row["output_tokens"]),
        amount(row["reasoning_output_tokens"]),
        row["model_calls"],
        cost(row["cost_usd"], row["cost_is_partial"]),
    )
    if not has_tools:
        return cells
    failed, mean = row["failed_tool_calls"], row["mean_tool_duration_ms"]
    rate = f"{failed} ({row['tool_failure_rate']:.0%})" if failed else "0"
    return (*cells, row["tool_calls"], rate, "" if mean is None else duration(mean / 1000))
