"""Tokens, cost and tools of an archive, added up by day, week, model, agent, project or tool.

Right by construction: the index holds each model call once, however many forks, resumes and repeated lines tell of it,
and every sum here is one over those rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
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

KEYS = ("day", "week", "model", "agent", "project", "tool")
"""What can be added up by."""
_SPENT_BY = {
    "day": "steno_day(counted.quarter)",
    "week": "steno_week(counted.quarter)",
    "model": "counted.model",
    "agent": "runs.agent",
    "project": "runs.project",
    "tool": "counted.tool",
}
_CALLED_BY = {
    "day": "steno_day(calls.quarter)",
    "week": "steno_week(calls.quarter)",
    "agent": "runs.agent",
    "project": "runs.project",
    "tool": "calls.name",
}


@dataclass(slots=True)
class Calls:
    """A sum of tool calls."""

    number: int = 0
    answered: int = 0
    failed: int = 0
    duration_us: int = 0
    """Of those whose duration is known."""
    timed: int = 0
    """How many those are."""

    def add(self, number: int, answered: int, failed: int, duration_us: int, timed: int) -> None:
        """Take more calls into account."""
        self.number += number
        self.answered += answered
        self.failed += failed
        self.duration_us += duration_us
        self.timed += timed

    def fields(self) -> dict[str, Any]:
        """The same for programs; a rate of nothing is null."""
        return {
            "tool_calls": self.number,
            "failed_tool_calls": self.failed,
            "tool_failure_rate": round(self.failed / self.answered, 4) if self.answered else None,
            "tool_duration_ms": self.duration_us / 1000,
            "mean_tool_duration_ms": round(self.duration_us / self.timed / 1000, 3) if self.timed else None,
        }


@dataclass(slots=True)
class Row:
    """What one day, model, tool … comes to."""

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
    """Days and weeks in their order, everything else by cost, then by tokens, the most first."""
    prices_date: str

    def as_dict(self) -> dict[str, Any]:
        """`{"totals": {…}, "rows": […]}`; rows by model have no tool calls, because a call is not a model's."""
        totals = {**self.totals.spending.fields(), "runs": self.runs, **self.totals.calls.fields()}
        return {"totals": {**totals, "prices_date": self.prices_date}, "rows": [self._row(row) for row in self.rows]}

    def _row(self, row: Row) -> dict[str, Any]:
        calls = {} if self.by == "model" else row.calls.fields()
        return {self.by: row.key, **row.spending.fields(), **calls}


class _Rows(dict[str, Row]):
    """Rows by their keys, each made when it is asked for."""

    def __missing__(self, key: str) -> Row:
        row = self[key] = Row(key)
        return row


def stats(index: sqlite3.Connection, scope: Scope, prices: Prices, by: str = "day") -> Stats:
    """What the runs that are meant took, in all and by one of `KEYS`."""
    for name, function in (("steno_day", _day), ("steno_week", _week)):
        index.create_function(name, 1, lru_cache(None)(function), deterministic=True)
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


def _day(quarter: int) -> str | None:
    """The day of a quarter of an hour since 1970, in local time."""
    return f"{_moment(quarter):%Y-%m-%d}" if quarter > 0 else None


def _week(quarter: int) -> str | None:
    """Its week, as ISO 8601 counts them."""
    return f"{_moment(quarter):%G-W%V}" if quarter > 0 else None


def _moment(quarter: int) -> datetime:
    return datetime.fromtimestamp(quarter * QUARTER_HOUR / 1000)


def _ordered(rows: Iterable[Row], by: str) -> list[Row]:
    if by in ("day", "week"):
        return sorted(rows, key=lambda row: row.key)
    return sorted(rows, key=_weight, reverse=True)


def _weight(row: Row) -> tuple[float, int, int, str]:
    usage = row.spending.usage
    return row.spending.dollars, usage.input_tokens + usage.output_tokens, row.calls.number, row.key
