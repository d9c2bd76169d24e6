"""Sums over an archive: the same whichever way they are made, and each model call once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_of_goldens import GOLDEN, converted, copy_case, copy_sessions, each_call_once, make_archive
from stenograph.archive import IndexReader, home_of
from stenograph.archive.keep.sync import sync
from stenograph.archive.keep.walk import Root
from stenograph.archive.writer import Store
from stenograph.fold.usage import usage_totals
from stenograph.model import Event
from stenograph.query.period import Period
from stenograph.query.prices import load_prices
from stenograph.query.scope import Scope
from stenograph.query.stats import KEYS, _blocks, stats

TOKENS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "reasoning_output_tokens",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An archive and the sessions in it."""
    return make_archive(tmp_path_factory.mktemp("stats"))


@pytest.fixture(scope="module")
def archive(made: tuple[Path, Path]) -> Iterator[IndexReader]:
    """The archive, open."""
    with IndexReader(made[0]) as opened:
        yield opened


@pytest.fixture(scope="module")
def events(made: tuple[Path, Path]) -> list[Event]:
    """All events, as the converter gives them."""
    return list(converted(made[1]))


def _stats(archive: IndexReader, by: str = "day", **scope: Any) -> dict[str, Any]:
    return stats(archive.index, Scope(**scope), load_prices(), by).as_dict()


def test_the_totals_are_those_of_the_events(archive: IndexReader, events: list[Event]) -> None:
    """Forks and repeated lines do not count twice: the fold over all events says the same."""
    totals = _stats(archive)["totals"]
    expected = usage_totals(events).total
    assert {name: totals[name] for name in TOKENS} == {name: getattr(expected, name) for name in TOKENS}
    assert totals["model_calls"] == expected.records
    pairs = each_call_once(events)
    assert totals["tool_calls"] == len(pairs)
    assert totals["failed_tool_calls"] == sum(pair.error is not None for pair in pairs) > 0


def test_the_sums_by_model_are_those_of_the_events(archive: IndexReader, events: list[Event]) -> None:
    """And have no tools in them."""
    rows = {row["model"]: row for row in _stats(archive, "model")["rows"]}
    expected = usage_totals(events).by_model
    assert rows.keys() == {name or "(unknown)" for name in expected}
    for name, usage in expected.items():
        row = rows[name or "(unknown)"]
        assert {field: row[field] for field in TOKENS} == {field: getattr(usage, field) for field in TOKENS}
        assert "tool_calls" not in row


@pytest.mark.parametrize("by", KEYS)
def test_rows_add_up_to_the_totals(archive: IndexReader, by: str) -> None:
    """Whatever they are made by, nothing is lost and nothing is counted in two of them."""
    found = _stats(archive, by)
    totals, rows = found["totals"], found["rows"]
    assert len({row[by] for row in rows}) == len(rows) > (by != "month")
    for name in (*TOKENS, "model_calls", *(() if by == "model" else ("tool_calls", "failed_tool_calls"))):
        assert sum(row[name] for row in rows) == totals[name], name
    assert sum(row["cost_usd"] or 0 for row in rows) == pytest.approx(totals["cost_usd"], abs=1e-4)
    assert {model for row in rows for model in row["unpriced_models"]} == set(totals["unpriced_models"])
    assert totals == _stats(archive)["totals"]


def test_scopes_that_share_nothing_add_up(archive: IndexReader) -> None:
    """By agent, and by two halves of time."""
    totals = _stats(archive)["totals"]
    agents = [_stats(archive, agent=row["agent"])["totals"] for row in _stats(archive, "agent")["rows"]]
    middle = int(datetime.fromisoformat("2026-11-16T00:00:00+00:00").timestamp() * 1000)
    halves = [_stats(archive, period=period)["totals"] for period in (Period(None, middle), Period(middle, None))]
    for parts in (agents, halves):
        for name in (*TOKENS, "model_calls", "tool_calls"):
            assert sum(part[name] for part in parts) == totals[name]
        assert all(part["model_calls"] < totals["model_calls"] for part in parts)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=40))
def test_a_block_is_five_hours_from_a_full_hour_on(quarters: list[int]) -> None:
    """Each has activity in its first hour, none reaches into the next, and every activity is in one."""
    begins = _blocks(sorted(quarters))
    starts = sorted(set(begins.values()))
    assert begins.keys() == set(quarters)
    assert all(0 <= quarter - begin < 20 for quarter, begin in begins.items())
    assert all(later >= earlier + 17 for earlier, later in pairwise(starts))
    assert all(datetime.fromtimestamp(begin * 900).minute == 0 for begin in starts)
    assert all(any(begin <= quarter < begin + 4 for quarter in quarters) for begin in starts)


def test_hours_and_months_are_those_of_the_days(archive: IndexReader) -> None:
    """A month has the hours of its days."""
    months: dict[str, int] = {}
    for row in _stats(archive, "hour")["rows"]:
        months[row["hour"][:7]] = months.get(row["hour"][:7], 0) + row["model_calls"]
    assert {row["month"]: row["model_calls"] for row in _stats(archive, "month")["rows"]} == months


def test_weeks_are_those_of_the_calendar(archive: IndexReader) -> None:
    """A week has the days that ISO 8601 gives it."""
    days = _stats(archive, "day")["rows"]
    weeks = {row["week"]: row["model_calls"] for row in _stats(archive, "week")["rows"]}
    assert [row["day"] for row in days] == sorted(row["day"] for row in days)
    expected: dict[str, int] = {}
    for row in days:
        year, week, _ = date.fromisoformat(row["day"]).isocalendar()
        expected[f"{year}-W{week:02}"] = expected.get(f"{year}-W{week:02}", 0) + row["model_calls"]
    assert weeks == expected


def test_a_model_without_a_price_is_unknown_and_never_free(archive: IndexReader) -> None:
    """Its row has no cost, and the total says that it is not all."""
    found = _stats(archive, "model")
    rows = {row["model"]: row for row in found["rows"]}
    assert rows["scripted"]["cost_usd"] is None
    assert rows["scripted"]["unpriced_models"] == ["scripted"]
    assert found["totals"]["unpriced_models"] == ["scripted"]
    assert found["totals"]["cost_usd"] > 0
    assert found["totals"]["prices_date"] == load_prices().date


def test_tools_have_their_failures_and_durations(archive: IndexReader, events: list[Event]) -> None:
    """By the pairs that the events make."""
    rows = {row["tool"]: row for row in _stats(archive, "tool")["rows"]}
    pairs = [pair for pair in each_call_once(events) if pair.name == "Bash"]
    failed = sum(pair.error is not None for pair in pairs)
    assert (rows["Bash"]["tool_calls"], rows["Bash"]["failed_tool_calls"]) == (len(pairs), failed)
    answered = sum(pair.result is not None for pair in pairs)
    assert rows["Bash"]["tool_failure_rate"] == pytest.approx(failed / answered, abs=1e-4)
    assert rows["Bash"]["mean_tool_duration_ms"] > 0
    assert rows["(no tool)"]["tool_calls"] == 0
    assert rows["(no tool)"]["model_calls"] > 0


@pytest.mark.parametrize("syncs", [1, 2])
def test_a_tool_has_no_duration_where_the_source_has_no_times(tmp_path: Path, syncs: int) -> None:
    """`codex exec` prints no times; the time of the file says nothing about how long a tool took."""
    lines = (GOLDEN / "codex_exec/tools/input.jsonl").read_bytes().splitlines(keepends=True)
    began = next(number for number, line in enumerate(lines) if b"item.started" in line)
    path = tmp_path / "printed/out.jsonl"
    path.parent.mkdir()
    for end in (began + 1, len(lines))[2 - syncs :]:  # in two syncs, the first ends between a call and its result
        path.write_bytes(b"".join(lines[:end]))
        with Store(home_of(tmp_path / "archive")) as store:
            sync(store, [Root(path.parent.resolve(), None)])
    with IndexReader(tmp_path / "archive") as opened:
        totals = _stats(opened, "tool")["totals"]
        assert totals["tool_calls"] > 0
        assert (totals["tool_duration_ms"], totals["mean_tool_duration_ms"]) == (0, None)


def test_the_same_files_twice_count_once(tmp_path: Path, archive: IndexReader) -> None:
    """A copy of every session under other names changes no number."""
    sessions = copy_sessions(tmp_path / "one")
    copies = copy_sessions(tmp_path / "two")
    with Store(home_of(tmp_path / "archive")) as store:
        sync(store, [Root(sessions.resolve(), None)])
        sync(store, [Root(sessions.resolve(), None), Root(copies.resolve(), None)])
    with IndexReader(tmp_path / "archive") as doubled:
        totals = _stats(doubled)["totals"]
    for name in (*TOKENS, "model_calls", "runs"):
        assert totals[name] == _stats(archive)["totals"][name]


COST_STATE = sorted(
    case.name
    for case in (GOLDEN / "claude_code").iterdir()
    if any(b'"type":"cost-state"' in path.read_bytes() for path in case.rglob("*.jsonl") if "input" in str(path))
)


@pytest.mark.parametrize("case", COST_STATE)
def test_a_session_of_claude_code_comes_to_what_it_says_itself(tmp_path: Path, case: str) -> None:
    """Tokens and dollars are those of its last `cost-state`; a compaction's own call is in no transcript, so less."""
    sessions = copy_case("claude_code", case, tmp_path / "sessions")
    with Store(home_of(tmp_path / "archive")) as store:
        sync(store, [Root(sessions.resolve(), None)])
    text = "\n".join(path.read_text() for path in sorted(sessions.rglob("*.jsonl")))
    said = json.loads([line for line in text.splitlines() if '"type":"cost-state"' in line][-1])
    used = said["modelUsage"].values()
    fresh = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    with IndexReader(tmp_path / "archive") as archive:
        totals = _stats(archive)["totals"]
    expected = (sum(model[name] for model in used for name in fresh), sum(model["outputTokens"] for model in used))
    found = (totals["input_tokens"], totals["output_tokens"])
    if '"subtype":"compact_boundary"' in text:
        assert all(ours < theirs for ours, theirs in zip(found, expected, strict=True))
    else:
        assert found == expected
        assert (totals["cost_usd"] or 0) == pytest.approx(said["totalCostUSD"], abs=1e-6)
