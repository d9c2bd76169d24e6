"""An explanation agrees with the folds on every number: its parts add up to the totals of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import CASES, input_of, name_of
from stenograph.fold.actions import action
from stenograph.fold.calls import pair_calls
from stenograph.fold.explain import explain
from stenograph.fold.totals import totals_of
from stenograph.fold.units import begins_unit
from stenograph.fold.usage import Usage
from stenograph.model import ErrorPayload, Event, MessagePayload, Origin, TextBlock, ToolPayload, UsagePayload
from stenograph.query.prices import load_prices
from stenograph.render.explanation import explanation_lines
from stenograph.sources.conversion import convert

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"
PRICES = load_prices()


def _tool(type: str) -> st.SearchStrategy[tuple[str, Any]]:
    made = st.builds(
        lambda name, call_id, error, fidelity: ToolPayload(
            name=name,
            call_id=call_id,
            input={"command": "x"} if type == "tool.call" else None,
            output=None if type == "tool.call" else "out",
            error=error if type == "tool.result" else None,
            fidelity=fidelity,
        ),
        st.sampled_from(["Bash", "Read", ""]),
        st.sampled_from(["c-1", "c-2", ""]),
        st.sampled_from([None, "failed"]),
        st.sampled_from(["router", "agent_emitted"]),
    )
    return made.map(lambda payload: (type, payload))


def _said(role: str) -> tuple[str, Any]:
    return f"message.{role}", MessagePayload(role=role, blocks=(TextBlock(fidelity="router", text="words"),))


_usage = st.builds(
    lambda size, message_id, scope: (
        "token.usage",
        UsagePayload(scope=scope, input_tokens=size, output_tokens=1, model="claude-sonnet-4-5", message_id=message_id),
    ),
    st.integers(0, 5),
    st.sampled_from(["m-1", "m-2", None]),
    st.sampled_from(["call", "call", "turn", "total"]),
)
facts = st.one_of(
    _tool("tool.call"),
    _tool("tool.result"),
    st.sampled_from([_said("user"), _said("assistant"), ("error", ErrorPayload(message="oh"))]),
    _usage,
)


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """Ids used twice and empty ids, results without and before their calls, reports that repeat, subagents."""
    return [
        Event(
            seq=seq,
            run_id=RUN_ID,
            type=kind,
            path="",
            iteration=0,
            timestamp=f"2026-06-08T08:14:{seq:02}.000000Z",
            origin=Origin(adapter="claude_code", source=draw(st.sampled_from(["main", "subagent:a"]))),
            payload=payload,
        )
        for seq, (kind, payload) in enumerate(draw(st.lists(facts, min_size=1, max_size=16)), 1)
    ]


def _check(events: list[Event]) -> None:
    told, totals = explain(events, PRICES), totals_of(events)
    assert told.totals == totals
    assert sum(tool.calls for tool in told.tools) == totals.tool_calls
    assert sum(tool.failed for tool in told.tools) == totals.failed_calls
    assert sum(tool.open for tool in told.tools) == totals.open_calls
    assert sum(failure.times for failure in told.failures) == totals.failed_calls
    assert sum(turn.calls for turn in told.turns) == totals.tool_calls
    assert sum(turn.errors for turn in told.turns) == totals.errors
    assert sum(turn.number > 0 for turn in told.turns) == totals.turns == sum(map(begins_unit, events))
    spent = Usage()
    for turn in told.turns:
        spent += turn.usage
    assert spent == totals.tokens
    assert abs(sum(turn.cost_usd or 0 for turn in told.turns) - (told.cost_usd or 0)) < 1e-6 * (1 + len(told.turns))
    pairs = [pair for pair in pair_calls(events) if pair.call is not None and pair.error is None]
    changes = [change for pair in pairs for change in action(pair).changes if change.path]
    assert sum(file.changes for file in told.files) == len(changes)
    assert sum(file.added for file in told.files) == sum(change.lines[0] for change in changes)
    assert all("\n" not in line for line in explanation_lines(told))


@given(runs())
def test_the_parts_add_up_to_the_totals(events: list[Event]) -> None:
    """By tool, by turn, by file and by failure, whatever ids and order the events have."""
    _check(events)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_parts_add_up_on_real_transcripts(case: Path) -> None:
    """Of every golden case, run by run."""
    events = list(convert(input_of(case), keep_raw=False))
    for run_id in {event.run_id for event in events}:
        _check([event for event in events if event.run_id == run_id])
