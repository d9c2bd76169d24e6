"""Tool calls find their results."""

from __future__ import annotations

from typing import Any

from stenograph.fold.calls import pair_calls
from stenograph.model import Event, Fidelity, ToolPayload


def call(seq: int, call_id: str, name: str = "Read", fidelity: Fidelity = "agent_emitted", run_id: str = "r") -> Event:
    payload = ToolPayload(name=name, call_id=call_id, input={"n": seq}, output=None, fidelity=fidelity)
    return event(seq, "tool.call", payload, run_id)


def result(
    seq: int, call_id: str, fidelity: Fidelity = "agent_emitted", run_id: str = "r", error: str | None = None
) -> Event:
    payload = ToolPayload(name="", call_id=call_id, input=None, output=seq, fidelity=fidelity, error=error)
    return event(seq, "tool.result", payload, run_id)


def event(seq: int, type: str, payload: Any, run_id: str = "r") -> Event:
    return Event(seq=seq, run_id=run_id, type=type, path="", iteration=0, timestamp="t", payload=payload)


def pairs(*events: Event) -> list[tuple[int | None, int | None]]:
    return [
        (None if pair.call is None else pair.call.seq, None if pair.result is None else pair.result.seq)
        for pair in pair_calls(events)
    ]


def test_parallel_calls_are_paired_by_id() -> None:
    """Results come in any order; pairs come in the order of the calls."""
    assert pairs(call(1, "a"), call(2, "b"), result(3, "b"), result(4, "a")) == [(1, 4), (2, 3)]


def test_a_dangling_call_and_a_stray_result_are_kept() -> None:
    """What was never answered, and what was never asked, is still there."""
    assert pairs(call(1, "a"), result(2, "b")) == [(1, None), (None, 2)]


def test_the_name_comes_from_the_call_when_the_result_has_none() -> None:
    """Most agents do not repeat the name; the error is the result's."""
    [pair] = pair_calls([call(1, "a", "Bash"), result(2, "a", error="exit code 1")])
    assert (pair.name, pair.call_id, pair.error) == ("Bash", "a", "exit code 1")


def test_the_routers_word_wins_over_the_agents() -> None:
    """Both told of one call: there is one pair, as our own seam saw it."""
    events = [call(1, "a"), call(2, "a", "Read", "router"), result(3, "a", "router"), result(4, "a")]
    assert pairs(*events) == [(2, 3)]
    assert pairs(*[events[i] for i in (1, 0, 3, 2)]) == [(2, 3)]


def test_the_agents_word_fills_what_the_router_did_not_see() -> None:
    """A router call whose result only the agent told is answered."""
    assert pairs(call(1, "a", "Read", "router"), result(2, "a")) == [(1, 2)]


def test_an_id_that_is_used_again_is_another_call() -> None:
    """Some providers reuse call ids within a run."""
    assert pairs(call(1, "a"), result(2, "a"), call(3, "a"), result(4, "a")) == [(1, 2), (3, 4)]
    assert pairs(call(1, "a"), call(2, "a"), result(3, "a")) == [(1, None), (2, 3)]


def test_ids_hold_within_a_run_only() -> None:
    """A forked run repeats the ids of its origin."""
    assert pairs(call(1, "a"), result(2, "a", run_id="fork"), call(3, "a", run_id="fork")) == [(1, None), (3, 2)]


def test_an_empty_id_joins_nothing() -> None:
    """Calls of an agent that gives no ids are not one call."""
    assert pairs(call(1, ""), call(2, ""), result(3, "")) == [(1, None), (2, None), (None, 3)]


def test_a_second_result_repeats_the_first() -> None:
    """Every call has its answer by then, so nothing is stray; the first answer counts."""
    assert pairs(call(1, "a"), result(2, "a"), result(3, "a", error="no")) == [(1, 2)]
    assert pairs(result(1, "a"), result(2, "a"), call(3, "a"), call(4, "a")) == [(3, 1), (4, 2)]


def test_a_result_before_its_call_is_its_result() -> None:
    """Agents write parallel lines in any order."""
    assert pairs(result(1, "a"), call(2, "a")) == [(2, 1)]
    assert pairs(result(1, "a", "router"), call(2, "a"), result(3, "a")) == [(2, 1)]


def test_other_events_and_broken_payloads_are_passed_over() -> None:
    """A broken journal does not stop the fold."""
    assert pair_calls([event(1, "tool.call", None), event(2, "system.event", None)]) == []
