"""Token reports become the same rows however they are divided into batches, and those that `fold` counts."""

from __future__ import annotations

import sqlite3
from collections import Counter
from itertools import count, pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.run_row import RunRow
from stenograph.archive.index.tables import TABLES
from stenograph.archive.index.usage_rows import UsageRows
from stenograph.fold.model_calls import ModelCall
from stenograph.fold.usage import UsageCounter
from stenograph.model.event import Event, Origin
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import TOKEN_COUNTS, UsagePayload

RUNS = ("run-1", "run-2", "run-3")
payloads = st.builds(
    UsagePayload,
    scope=st.sampled_from(["call", "turn", "total"]),
    input_tokens=st.integers(0, 3),
    output_tokens=st.integers(0, 3),
    cache_creation_1h_input_tokens=st.none() | st.integers(0, 3),
    reasoning_output_tokens=st.none() | st.integers(0, 3),
    speed=st.sampled_from([None, "fast"]),
    service_tier=st.sampled_from([None, "batch"]),
    cost_usd=st.sampled_from([None, 0.5]),
    model=st.sampled_from([None, "one", "two"]),
    message_id=st.sampled_from([None, "17", "chatcmpl-17", "msg_01R62tkBvD4mQxLw8ZyN5cHa"]),
)
reports = st.tuples(st.sampled_from(RUNS), payloads, st.integers(0, 2), st.booleans())
"""A run, what it reports, how many seconds after its last report, and whether the source tells the time."""
Reports = list[tuple[str, UsagePayload, int, bool]]


def _events(told: Reports) -> list[Event]:
    """The reports as events; in one run time does not go back."""
    seconds: Counter[str] = Counter()
    events = []
    for seq, (run_id, payload, later, is_told) in enumerate(told, 1):
        seconds[run_id] += later
        time = f"2026-11-17T12:{seconds[run_id] // 60:02}:{seconds[run_id] % 60:02}Z"
        origin = None if is_told else Origin(time="given")
        events.append(
            Event(
                seq=seq,
                run_id=run_id,
                type="token.usage",
                path="",
                iteration=0,
                timestamp=time,
                origin=origin,
                payload=payload,
            )
        )
    return events


def _index(batches: list[list[Event]]) -> IndexWriter:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(TABLES)
    index = IndexWriter(connection)
    runs = {run_id: RunRow(number, run_id, "codex_rollout", "codex") for number, run_id in enumerate(RUNS, 1)}
    ids = count(1)
    for batch in batches:
        rows = UsageRows(index)
        for event in batch:
            assert isinstance(event.payload, UsagePayload)
            ms = milliseconds_of(event.timestamp)
            rows.add(runs[event.run_id], event, event.payload, next(ids), ms, ModelCall(1))
        rows.write()
        index.drain()
        for run in runs.values():
            run.is_new = False
    for run in runs.values():
        run.write(index)
    return index


def _rows(batches: list[list[Event]]) -> list[tuple[Any, ...]]:
    index = _index(batches)
    told = index.execute("SELECT * FROM usage ORDER BY key").fetchall()
    index.close()
    return [row[1:] for row in told]


def _cut(events: list[Event], places: list[int]) -> list[list[Event]]:
    bounds = [0, *sorted(place % (len(events) + 1) for place in places), len(events)]
    return [events[begin:end] for begin, end in pairwise(bounds)]


@given(st.lists(reports, max_size=20), st.lists(st.integers(0, 20), max_size=4))
def test_batches_make_no_difference(told: Reports, places: list[int]) -> None:
    """Nor does it when all reports come as one, or each alone."""
    events = _events(told)
    assert _rows(_cut(events, places)) == _rows([events]) == _rows([[event] for event in events])


@given(st.lists(reports, max_size=20))
def test_the_archive_counts_what_the_fold_counts(told: Reports) -> None:
    """One rule for both: the same calls, each with the numbers of the same report."""
    events = _events(told)
    counter = UsageCounter()
    for event in events:
        counter.add(event)
    names = ("scope", "model", "message_id", *TOKEN_COUNTS, "speed", "service_tier", "cost_usd")
    index = _index([events])
    found = Counter(index.execute(f"SELECT {', '.join(names)} FROM counted").fetchall())
    index.close()
    assert found == Counter(_told(payload, names) for payload in counter.counting())


def _told(payload: UsagePayload, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple((getattr(payload, name) or 0) if name in TOKEN_COUNTS else getattr(payload, name) for name in names)


@given(st.lists(reports, max_size=12), st.permutations(RUNS))
def test_the_order_of_runs_makes_no_difference(told: Reports, order: list[str]) -> None:
    """Which run is read first decides where a call is counted, never what is counted of it."""
    events = _events(told)
    sums = []
    for runs in (RUNS, order):
        counter = UsageCounter()
        for event in sorted(events, key=lambda event: list(runs).index(event.run_id)):
            counter.add(event)
        sums.append(sorted(str(payload) for payload in counter.counting() if payload.scope == "call"))
    assert sums[0] == sums[1]
