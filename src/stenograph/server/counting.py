"""Sums of the archive: a table, and bars that are drawn here, so that nothing has to be loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from stenograph.query.stats import KEYS
from stenograph.render.figures import amount, cost
from stenograph.render.html.escape import line
from stenograph.server.answers import html
from stenograph.server.frame import address, framed, table
from stenograph.server.listing import filters_of, owners_of
from stenograph.server.site import Site

_BARS = 40
_WIDTH, _ROW, _LABEL = 720, 22, 200
_FILTERED = ("agent", "project", "model")


def stats_page(site: Site, request: Request) -> Response:
    """`/stats`: tokens, cost and tools by day, week, model, agent, project or tool."""
    query = dict(request.query_params)
    by = query.get("by") or KEYS[0]
    found = site.runs.stats(by, owners_of(query), **filters_of(query))
    rows = [{**row.to_dict(), "key": site.text(row[by])} for row in found]
    switch = "".join(
        f'<a href="{address("/stats", {**query, "by": each})}"{" aria-current=true" if each == by else ""}>{each}</a>'
        for each in KEYS
    )
    totals = {**found.totals.to_dict(), "key": "Together"}
    has_cost = any("cost_usd" in row for row in rows)
    body = (
        f'<main class="wide"><h1>Stats</h1><p class="chips" role="group" aria-label="By">{switch}</p>'
        '<p class="hint">Costs are estimates by the list prices of the models; ≥ where a model has no known price.</p>'
        f"{_chart(rows, 'cost_usd' if has_cost else 'tool_calls')}"
        f"{table(_head(by, rows), [_row(row, by, rows) for row in [*rows, totals]], 'stats')}</main>"
    )
    return html(request, framed(site, "Stats", body, here="/stats"))


_COLUMNS = {
    "Input": "input_tokens",
    "Cached": "cache_read_input_tokens",
    "Output": "output_tokens",
    "Cost": "cost_usd",
    "Tool calls": "tool_calls",
    "Failed": "failed_tool_calls",
}


def _shown(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The columns that these sums have: a tool has no tokens, a model no calls of tools."""
    return [name for name, field in _COLUMNS.items() if any(field in row for row in rows)]


def _head(by: str, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return (by.capitalize(), *_shown(rows))


def _row(row: Mapping[str, Any], by: str, rows: Sequence[Mapping[str, Any]]) -> str:
    key = line(row["key"])
    place = _runs_of(row["key"], by)
    name = f'<a href="{place}">{key}</a>' if place and row["key"] != "Together" else f"<b>{key}</b>"
    cells = (name, *(_cell(row, _COLUMNS[column]) for column in _shown(rows)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"


def _cell(row: Mapping[str, Any], field: str) -> str:
    if field == "cost_usd":
        return line(cost(row.get("cost_usd"), bool(row.get("cost_is_partial")))) if field in row else ""
    if field in ("tool_calls", "failed_tool_calls"):
        return f"{row[field]:,}" if field in row else ""
    return _tokens(row, field)


def _tokens(row: Mapping[str, Any], name: str) -> str:
    return amount(row[name]) if isinstance(row.get(name), int) else ""


def _runs_of(key: str, by: str) -> str:
    if key == "(unknown)":
        return ""
    if by in _FILTERED:
        return address("/", {by: key})
    return address("/", {"since": key, "until": key}) if by == "day" else ""


def _chart(rows: list[dict[str, Any]], name: str) -> str:
    """Bars of the rows, the newest or largest ones."""
    shown = rows[-_BARS:]
    most = max((float(row.get(name) or 0) for row in shown), default=0.0)
    if not most:
        return ""
    bars = []
    for place, row in enumerate(shown):
        value = float(row.get(name) or 0)
        top = place * _ROW
        width = round((_WIDTH - _LABEL - 90) * value / most, 1)
        amount = cost(row.get(name), bool(row.get("cost_is_partial"))) if name == "cost_usd" else f"{value:,.0f}"
        bars.append(
            f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end" class="axis">{line(str(row["key"])[:28])}</text>'
            f'<rect x="{_LABEL}" y="{top + 3}" width="{width}" height="{_ROW - 7}" rx="3"></rect>'
            f'<text x="{_LABEL + width + 6}" y="{top + 15}">{line(amount)}</text>'
        )
    height = len(shown) * _ROW
    label = "Cost" if name == "cost_usd" else "Tool calls"
    return (
        '<div class="scroll" tabindex="0">'
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="{label}">{"".join(bars)}</svg></div>\n'
    )
