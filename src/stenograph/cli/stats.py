"""`steno stats`: tokens, cost and tools of the archive."""

from __future__ import annotations

import click

from stenograph.cli.archive import open_archive
from stenograph.cli.figures import amount, bar, cost, duration
from stenograph.cli.fitting import print_fitting
from stenograph.cli.options import json_option, print_json
from stenograph.cli.scope import prices_option, scope_options
from stenograph.query.prices import load_prices
from stenograph.query.scope import Scope
from stenograph.query.stats import KEYS, Row, Stats, stats
from stenograph.render.visible import on_one_line

_BAR = 16
_TOKENS = ("input", "cached", "output", "reasoning", "calls", "cost")
_TOOLS = ("tools", "failed", "mean")


@click.command(
    "stats", epilog="Example: steno stats --by model --since 30d", short_help="Add up tokens, cost and tools."
)
@click.option(
    "--by", type=click.Choice(KEYS), default="day", help="day (default), week, model, agent, project or tool."
)
@scope_options
@prices_option
@json_option
def command(by: str, scope: Scope, prices: str | None, as_json: bool) -> None:
    """Add up tokens, cost and tool calls of the archive.

    Every model call counts once, whichever forks, resumes and repeated lines tell of it. Cost is by list prices of a
    dated table; a model that it does not have costs "unknown", never zero. Days are in local time.
    """
    with open_archive() as archive:
        found = stats(archive.index, scope, load_prices(prices), by)
    if as_json:
        print_json(found.as_dict())
    else:
        _print(found)


def _print(found: Stats) -> None:
    has_tools = found.by != "model"
    weights = [_weight(row, found.totals) for row in found.rows]
    most = max(weights, default=0) or 1
    rows = [
        (*_cells(row, row.key, has_tools), bar(weight / most, _BAR))
        for row, weight in zip(found.rows, weights, strict=True)
    ]
    rows.append((*_cells(found.totals, "total", has_tools), ""))
    dispensable = ("reasoning", "mean", "calls", "failed") if has_tools else ("reasoning", "calls")
    print_fitting((found.by, *_TOKENS, *(_TOOLS if has_tools else ()), ""), rows, dispensable, _BAR)
    unpriced = ", ".join(on_one_line(model or "(no name)") for model in sorted(found.totals.spending.unpriced))
    missing = f"; no price for {unpriced}" if unpriced else ""
    click.echo(f"steno: {found.runs} runs, list prices of {found.prices_date}{missing}", err=True)


def _weight(row: Row, totals: Row) -> float:
    """What the bars show: cost, or tokens where nothing has a price, or tool calls where there are none."""
    if totals.spending.dollars:
        return row.spending.dollars
    usage = row.spending.usage
    tokens = usage.input_tokens + usage.output_tokens
    return tokens if totals.spending.usage.records else row.calls.number


def _cells(row: Row, key: str, has_tools: bool) -> tuple[object, ...]:
    usage, spending, calls = row.spending.usage, row.spending, row.calls
    told = (
        key,
        amount(usage.input_tokens),
        amount(usage.cache_read_input_tokens),
        amount(usage.output_tokens),
        amount(usage.reasoning_output_tokens),
        usage.records,
        cost(spending.cost_usd, spending.cost_is_partial),
    )
    if not has_tools:
        return told
    failed = f"{calls.failed} ({calls.failed / calls.answered:.0%})" if calls.failed else "0"
    mean = duration(calls.duration_us / calls.timed / 1e6) if calls.timed else ""
    return (*told, calls.number, failed, mean)
