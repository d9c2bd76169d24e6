"""Tokens, cost and tools of an archive, added up by time, model, agent, project, branch, run or tool.

Correct by construction: the index holds each model call once, however many forks, resumes and repeated lines report
it, and every sum here is one over those rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from stenograph.archive.index.tables import QUARTER_HOUR
from stenograph.fold.prices import Cost, Prices
from stenograph.fold.usage import Usage
from stenograph.query.kept_sums import summed
from stenograph.query.scope import Scope
from stenograph.query.spending import BY_CALL, BY_TOOL, Spending, spent

TIMES = ("day", "hour", "block", "week", "month")
KEYS = (*TIMES, "model", "agent", "project", "branch", "run", "tool")
"""What sums can be grouped by. A block is five hours, as subscriptions count them: see `_blocks`."""
_BLOCK = 5 * 3_600_000 // QUARTER_HOUR
_OF_RUN = {"agent": "runs.agent", "project": "runs.project", "branch": "runs.branch", "run": "runs.run_id"}
_SPENT_BY = {
    **{by: f"steno_{by}(counted.quarter)" for by in TIMES},
    "model": "counted.model",
    "tool": "counted.tool",
    **_OF_RUN,
}
_CALLED_BY = {**{by: f"steno_{by}(calls.quarter)" for by in TIMES}, "tool": "calls.name", **_OF_RUN}


@dataclass(slots=True)
class Calls:
    """A sum of tool calls."""

    number: int = 0
    answered: int = 0
    failed: int = 0
    duration_us: int = 0
    """The total of those whose duration is known."""
    timed: int = 0
    """How many have a known duration."""

    def add(self, number: int, answered: int, failed: int, duration_us: int, timed: int) -> None:
        """Take more calls into account."""
        self.number += number
        self.answered += answered
        self.failed += failed
        self.duration_us += duration_us
        self.timed += timed

    def fields(self) -> dict[str, Any]:
        """The sums as JSON fields; a rate of nothing is null."""
        return {
            "tool_calls": self.number,
            "failed_tool_calls": self.failed,
            "tool_failure_rate": round(self.failed / self.answered, 4) if self.answered else None,
            "tool_duration_ms": self.duration_us / 1000,
            "mean_tool_duration_ms": round(self.duration_us / self.timed / 1000, 3) if self.timed else None,
        }


@dataclass(slots=True)
class Row:
    """The sums of one day, model, tool …"""

    key: str
    spending: Spending = field(default_factory=Spending)
    calls: Calls = field(default_factory=Calls)


@dataclass(slots=True)
class Stats:
    """Sums of an archive."""

    by: str
    totals: Row
    runs: int
    rows: list[Row]
    """Times in order, everything else by cost, then by tokens, descending."""
    prices_date: str

    def as_dict(self) -> dict[str, Any]:
        """`{"totals": {…}, "rows": […]}`; rows by model have no tool calls, because a call is not a model's."""
        totals = {**self.totals.spending.fields(), "runs": self.runs, **self.totals.calls.fields()}
        return {"totals": {**totals, "prices_date": self.prices_date}, "rows": [self._row(row) for row in self.rows]}

    def _row(self, row: Row) -> dict[str, Any]:
        calls = {} if self.by == "model" else row.calls.fields()
        return {self.by: row.key, **row.spending.fields(), **calls}


class _Rows(dict[str, Row]):
    """Rows by their keys, each made on first use."""

    def __missing__(self, key: str) -> Row:
        row = self[key] = Row(key)
        return row


def stats(index: sqlite3.Connection, scope: Scope, prices: Prices, by: str = "day") -> Stats:
    """The usage of the runs in scope, in all and by one of `KEYS`."""
    if by in TIMES:
        function = _block_of(index, scope) if by == "block" else _named(_FORMS[by])
        index.create_function(f"steno_{by}", 1, lru_cache(None)(function), deterministic=True)
    rows = _Rows()
    totals = Row("")
    for key, model, usage, cost in _spent(index, scope, prices, by):
        rows[_name(key)].spending.add(model, usage, cost)
        totals.spending.add(model, usage, cost)
    for key, *numbers in _called(index, scope, by):
        totals.calls.add(*numbers)
        if by != "model":
            rows[_name(key)].calls.add(*numbers)
    condition, parameters = scope.of_runs()
    runs = index.execute(f"SELECT count(*) FROM main.runs AS runs WHERE {condition}", parameters).fetchone()[0]
    return Stats(by=by, totals=totals, runs=runs, rows=_ordered(rows.values(), by), prices_date=prices.date)


def _spent(
    index: sqlite3.Connection, scope: Scope, prices: Prices, by: str
) -> Iterable[tuple[Any, str | None, Usage, Cost]]:
    kept = BY_TOOL if by == "tool" else BY_CALL
    return spent(index, _SPENT_BY[by], *scope.at_any_time(), prices, scope.period, kept)


def _called(index: sqlite3.Connection, scope: Scope, by: str) -> Iterable[tuple[Any, ...]]:
    condition, parameters = scope.at_any_time()
    numbers = "calls", "answered", "failed", "duration_us", "timed"
    query = f"""
        SELECT {_CALLED_BY.get(by, "NULL")}, {", ".join(f"sum(calls.{name})" for name in numbers)}
        FROM ({summed("calls", f"run, quarter, name, {', '.join(numbers)}", scope.period)}) AS calls
        JOIN main.runs AS runs ON runs.id = calls.run WHERE {condition} GROUP BY 1
    """
    return index.execute(query, parameters)


def _name(key: Any) -> str:
    return "(unknown)" if key in (None, "") else str(key)


_FORMS = {"hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
"""The formats of times; weeks as ISO 8601 counts them."""


def _named(form: str) -> Callable[[int], str | None]:
    """Names a quarter of an hour since 1970 in local time."""
    return lambda quarter: f"{_moment(quarter):{form}}" if quarter > 0 else None


def _block_of(index: sqlite3.Connection, scope: Scope) -> Callable[[int], str | None]:
    """Names the block of a quarter by its beginning.

    All runs in scope determine the blocks, at any time: a requested period does not move their beginnings.
    """
    condition, parameters = scope.at_any_time()
    query = f"""
        SELECT DISTINCT sums.quarter FROM (
          SELECT run, quarter FROM main.counted_sums UNION SELECT run, quarter FROM main.calls_sums
        ) AS sums JOIN main.runs AS runs ON runs.id = sums.run WHERE sums.quarter > 0 AND {condition} ORDER BY 1
    """
    begins = _blocks(quarter for (quarter,) in index.execute(query, parameters))
    return lambda quarter: f"{_moment(begins[quarter]):%Y-%m-%d %H:%M}" if quarter in begins else None


def _blocks(quarters: Iterable[int]) -> dict[int, int]:
    """The beginning of the block of each quarter, in order.

    A block begins with the full hour of the first activity, and lasts five hours; the next one begins with the first
    activity after that.
    """
    begins: dict[int, int] = {}
    begin = None
    for quarter in quarters:
        if begin is None or quarter >= begin + _BLOCK:
            begin = quarter - _moment(quarter).minute * 60_000 // QUARTER_HOUR
        begins[quarter] = begin
    return begins


def _moment(quarter: int) -> datetime:
    return datetime.fromtimestamp(quarter * QUARTER_HOUR / 1000)


def _ordered(rows: Iterable[Row], by: str) -> list[Row]:
    if by in TIMES:
        return sorted(rows, key=lambda row: row.key)
    return sorted(rows, key=_weight, reverse=True)


def _weight(row: Row) -> tuple[float, int, int, str]:
    usage = row.spending.usage
    return row.spending.dollars, usage.input_tokens + usage.output_tokens, row.calls.number, row.key
