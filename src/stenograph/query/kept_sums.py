"""SQL for sums over any span of time, from the sums that the index keeps.

The index keeps sums by quarter of an hour, because in every time zone a day begins with one. A span may begin and end
inside a quarter: there the single rows are summed instead.
"""

from __future__ import annotations

from stenograph.archive.index.tables import QUARTER_HOUR
from stenograph.query.period import Period


def summed(table: str, columns: str, period: Period) -> str:
    """A query for the sums of whole quarters (`<table>_sums`), and for single rows (`<table>_told`) of partial ones."""
    if period == Period():
        return f"SELECT {columns} FROM main.{table}_sums"
    since = None if period.since is None else max(0, period.since)
    first = -(-(since or 0) // QUARTER_HOUR)
    last = None if period.until is None else max(0, period.until) // QUARTER_HOUR
    parts = [f"SELECT {columns} FROM main.{table}_sums WHERE {_within('quarter', first, last)}"]
    cut = [] if since is None else [Period(since, _earlier(first * QUARTER_HOUR, period.until))]
    cut += [] if last is None else [Period(max(first, last) * QUARTER_HOUR, period.until)]
    parts += [f"SELECT {columns} FROM {_rows(table, span)}" for span in cut]
    return " UNION ALL ".join(parts)


def _rows(table: str, span: Period) -> str:
    """A FROM clause: the rows in a part of one quarter, searched only in runs that have rows in that quarter."""
    runs = f"SELECT run FROM main.{table}_sums WHERE quarter = {(span.since or 0) // QUARTER_HOUR}"
    return f"main.{table}_told WHERE run IN ({runs}) AND {moments_in(span)}"


def moments_in(period: Period) -> str:
    """A condition on `at_ms`."""
    return _within("at_ms", period.since, period.until)


def _within(column: str, since: int | None, until: int | None) -> str:
    bounds = (f"{column} {sign} {bound}" for sign, bound in ((">=", since), ("<", until)) if bound is not None)
    return " AND ".join(bounds) or "1"


def _earlier(one: int, other: int | None) -> int:
    return one if other is None else min(one, other)
