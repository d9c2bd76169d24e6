"""Sums that the index keeps: those of its rows, after any reports, for any span of time, at any prices."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.archive.index.call_rows import _CHANGED, _NEW, CallRow
from stenograph.archive.index.tables import LONG_INPUT, QUARTER_HOUR, TABLES
from stenograph.archive.index.usage_rows import _REPORT, COLUMNS
from stenograph.fold.calls import PairState
from stenograph.fold.prices import LongRate, Price, Prices, Terms, TierRate
from stenograph.fold.usage import Usage
from stenograph.query.kept_sums import summed
from stenograph.query.period import Period
from stenograph.query.spending import BY_CALL, BY_TOOL, Summed, spent

RUNS = ((1, 0, 0), (2, 1, 0), (3, 0, 1))
"""Number, and whether it has reports of calls and of turns."""
moments = st.one_of(
    st.integers(0, 4).map(lambda quarter: quarter * QUARTER_HOUR),
    st.integers(-QUARTER_HOUR, 5 * QUARTER_HOUR),
)
reports = st.builds(
    lambda key, run, tools, scope, ms, model, into, out, terms, cost: {
        "key": key,
        "run": run,
        "model_call": 1,
        "tools": json.dumps(tools),
        "event": 1,
        "source": "main",
        "scope": scope,
        "at_ms": ms,
        "message_id": None,
        "model": model,
        "input_tokens": into,
        "output_tokens": out,
        "cache_read_input_tokens": into // 2,
        "cache_creation_input_tokens": into // 4,
        "cache_creation_1h_input_tokens": into // 8,
        "reasoning_output_tokens": 0,
        "speed": terms[0],
        "service_tier": terms[1],
        "cost_usd": cost,
        "reporter": "r",
        "reported_ms": 0,
    },
    st.sampled_from("abcdefgh"),
    st.sampled_from([run for run, _, _ in RUNS]),
    st.sampled_from([["Bash"], ["Read", "Bash", "Read"], ["(no tool)"], ["a", "b", "c", "d", "e", "f", "g"]]),
    st.sampled_from(["call", "turn", "total"]),
    moments,
    st.sampled_from([None, "", "short", "long", "longer"]),
    st.sampled_from([0, 1, 500, 501, LONG_INPUT, LONG_INPUT + 1, 1 << 40]),
    st.integers(0, 5),
    st.sampled_from([(None, None), ("standard", None), ("fast", "standard"), (None, "flex"), (None, "other")]),
    st.sampled_from([None, None, 0.0, 0.25]),
)
calls = st.builds(
    CallRow,
    pair=st.builds(
        PairState,
        run_id=st.just("r"),
        source=st.just("main"),
        call_id=st.just("c"),
        name=st.sampled_from(["", "Bash", "Read"]),
        call=st.sampled_from([None, 1]),
        result=st.sampled_from([None, 1]),
        error=st.sampled_from([None, "no"]),
    ),
    id=st.sampled_from([None, 1, 2, 3]),
    run=st.sampled_from([run for run, _, _ in RUNS]),
    started_ms=st.none() | moments,
    duration_ms=st.none() | st.floats(allow_nan=False, allow_infinity=False),
)
periods = st.builds(Period, st.none() | moments, st.none() | moments)
SHORT = Price(input=1.0, output=2.0, cache_write_1h=3.0, fast=2.0, tiers={"flex": TierRate(input=0.5, output=1.0)})
_LONG_RATE = {"input": 3.0, "output": 5.0}
price_lists = st.builds(
    lambda long, longer: Prices(
        {
            "short": SHORT,
            "long": Price(input=1.0, output=2.0, long=LongRate(above=long, **_LONG_RATE)),
            "longer": Price(input=1.0, output=2.0, long=LongRate(above=longer, **_LONG_RATE)),
        },
        "",
    ),
    st.sampled_from([500, LONG_INPUT]),
    st.sampled_from([500, LONG_INPUT + 1]),
) | st.just(Prices({"short": SHORT}, ""))


def _index(told: list[dict[str, Any]], called: list[CallRow]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:", isolation_level=None)
    index.executescript(TABLES)
    query = "INSERT INTO runs (id, run_id, agent, format, has_calls, has_turns) VALUES (?, 'r' || ?, '', '', ?, ?)"
    index.executemany(query, [(run, run, *more) for run, *more in RUNS])
    index.executemany(_REPORT, [tuple(row[name] for name in COLUMNS) for row in told])
    for each in called:
        index.execute(_NEW if each.id is None else _CHANGED, each.values())
    return index


def _is_within(ms: int | None, period: Period) -> bool:
    """Of what is older than 1970, or has no time, nothing is asked here."""
    if period == Period():
        return True
    if ms is None:
        return False
    return (period.since is None or ms >= period.since) and (period.until is None or ms < period.until)


@given(st.lists(reports), st.lists(calls))
def test_sums_are_those_of_the_rows(told: list[dict[str, Any]], called: list[CallRow]) -> None:
    """However rows came and changed; nothing is left of what is gone."""
    index = _index(told, called)
    for table, keys in (("usage", 7), ("calls", 3), ("shares", 8)):
        cursor = index.execute(f"SELECT * FROM {table}_sums")
        names = [name for name, *_ in cursor.description]
        sums = ", ".join(f"sum({name})" for name in names[keys:])
        by = ", ".join(names[:keys])
        assert set(cursor) == set(index.execute(f"SELECT {by}, {sums} FROM {table}_told GROUP BY {by}"))
    index.close()


@given(st.lists(reports), st.lists(calls), periods)
def test_any_span_of_time_can_be_asked_for(told: list[dict[str, Any]], called: list[CallRow], period: Period) -> None:
    """Also one that begins or ends within a quarter of an hour, or within the same one."""
    index = _index([row for row in told if row["at_ms"] >= 0], [row for row in called if (row.started_ms or 0) >= 0])
    for table, count in (("usage", "calls"), ("calls", "calls"), ("shares", "shares")):
        rows = index.execute(f"SELECT run, at_ms FROM {table}_told")
        expected = Counter(run for run, ms in rows if _is_within(ms, period))
        found = index.execute(f"SELECT run, sum({count}) FROM ({summed(table, f'run, {count}', period)}) GROUP BY run")
        assert dict(found) == expected
    index.close()


@given(st.lists(reports), periods, price_lists, st.sampled_from([BY_CALL, BY_TOOL]))
def test_every_call_costs_what_its_length_says(
    told: list[dict[str, Any]], period: Period, prices: Prices, kept: Summed
) -> None:
    """The kept sums have no lengths in them; tokens and dollars are those of the single calls all the same.

    Also when they are shared by tools.
    """
    index = _index([row for row in told if row["at_ms"] >= 0], [])
    tokens: Counter[str] = Counter()
    dollars: Counter[str] = Counter()
    partial: set[str] = set()
    query = """
        SELECT at_ms, scope, coalesce(model, ''), speed, service_tier, cost_usd, input_tokens, output_tokens
        FROM counted
    """
    for ms, scope, model, speed, tier, reported, into, out in index.execute(query):
        if not _is_within(ms, period):
            continue
        usage = Usage(
            input_tokens=into,
            output_tokens=out,
            cache_read_input_tokens=into // 2,
            cache_creation_input_tokens=into // 4,
            cache_creation_1h_input_tokens=into // 8,
        )
        tokens[model] += into
        length = None if scope == "call" else 0
        single = prices.cost(Terms(model, speed, tier), usage, input_of_call=length, reported=reported)
        dollars[model] += single.dollars or 0
        partial |= {model} if single.is_partial else set()
    found: Counter[str] = Counter()
    cost: Counter[str] = Counter()
    found_partial: set[str] = set()
    for key, model, usage, summed_up in spent(index, "counted.model", "1", [], prices, period, kept):
        assert key == model
        found[key] += usage.input_tokens
        cost[key] += summed_up.dollars or 0
        found_partial |= {key} if summed_up.is_partial else set()
    assert found == tokens
    assert found_partial == partial
    assert dict(cost) == pytest.approx(dict(dollars), abs=1e-6)
    index.close()
