"""What was begun and not ended, and what ended without a beginning."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.fold.open_ends import OpenEnd, OpenEnds, open_ends
from stenograph.model import Event, LifecyclePayload, ToolPayload


def _run(*steps: tuple[str, str] | tuple[str, str, int]) -> list[Event]:
    """Events from (type, path or call id, iteration), numbered as they come."""
    made = []
    for seq, (event_type, what, *rest) in enumerate(steps, 1):
        is_tool = event_type.startswith("tool.")
        payload: Any = LifecyclePayload(name=what.rpartition(".")[2], kind="k")
        if is_tool:
            payload = ToolPayload(name="Read", call_id=what, input=None, output=None, fidelity="router")
        made.append(
            Event(
                seq=seq,
                run_id="r-1",
                type=event_type,
                path="" if is_tool or event_type.startswith("run.") else what,
                iteration=rest[0] if rest else 0,
                timestamp="",
                payload=payload,
            )
        )
    return made


def _ends(*steps: tuple[str, str] | tuple[str, str, int]) -> list[tuple[str, int, str]]:
    return [(end.kind, end.seq, end.what) for end in open_ends(_run(*steps))]


def test_a_run_that_ended_well_has_none() -> None:
    """Everything begun has its end."""
    assert (
        _ends(
            ("run.started", "demo"),
            ("step.started", "a"),
            ("step.call_workflow.started", "a.b"),
            ("tool.call", "c-1"),
            ("tool.result", "c-1"),
            ("step.call_workflow.completed", "a.b"),
            ("step.completed", "a"),
            ("run.completed", "demo"),
        )
        == []
    )


def test_a_run_that_was_cut_says_what_was_open() -> None:
    """Run, steps with their iteration and calls with their id, by where they began."""
    assert _ends(("run.started", "demo"), ("step.started", "a"), ("step.started", "a.b", 2), ("tool.call", "c-1")) == [
        ("open_run", 1, "demo"),
        ("open_step", 2, "a"),
        ("open_step", 3, "a.b[2]"),
        ("open_call", 4, "Read (c-1)"),
    ]


def test_ends_without_a_beginning_are_strays() -> None:
    """A step or result that nobody began, and a step that ended twice."""
    assert _ends(
        ("step.completed", "a"), ("tool.result", "c-1"), ("step.started", "b"), ("step.completed", "b", 1)
    ) == [
        ("stray_step", 1, "a"),
        ("stray_result", 2, "Read (c-1)"),
        ("open_step", 3, "b"),
        ("stray_step", 4, "b[1]"),
    ]


def test_a_call_with_two_witnesses_is_one_call() -> None:
    """Router and agent both report call and result: nothing is open, nothing stray."""
    calls = [("tool.call", "c-1"), ("tool.call", "c-1"), ("tool.result", "c-1"), ("tool.result", "c-1")]
    assert _ends(*calls) == []
    assert _ends(*calls[1:]) == []


def test_a_step_begun_twice_must_end_twice() -> None:
    """Retries and parallel twins are told apart by counting; the last begun ends first."""
    assert _ends(("step.started", "a"), ("step.started", "a"), ("step.completed", "a")) == [("open_step", 1, "a")]


def test_a_reopened_run_is_open_from_its_last_start() -> None:
    """A run that was ended and begun again is open; one without a name goes by its id."""
    assert _ends(("run.started", "demo"), ("run.completed", "demo"), ("run.started", "")) == [("open_run", 3, "r-1")]


def test_collecting_can_be_asked_at_any_time() -> None:
    """`remaining` answers for the events so far and disturbs nothing."""
    ends = OpenEnds()
    first, second = _run(("step.started", "a"), ("step.completed", "a"))
    ends.add(first)
    assert ends.remaining() == ends.remaining() == [OpenEnd(kind="open_step", seq=1, what="a")]
    ends.add(second)
    assert ends.remaining() == []


@pytest.mark.parametrize("payload", [None, [], "text", {"call_id": "c"}])
@pytest.mark.parametrize("type", ["run.started", "step.started", "tool.call", "tool.result", "message.user", "x"])
def test_garbage_payloads_never_raise(type: str, payload: Any) -> None:
    """Without a readable payload a call or result cannot be paired and is left out."""
    event = Event(seq=1, run_id="r-1", type=type, path="a", iteration=0, timestamp="", payload=payload)
    expected = {"run.started": [("open_run", "r-1")], "step.started": [("open_step", "a")]}
    assert [(end.kind, end.what) for end in open_ends([event])] == expected.get(type, [])
