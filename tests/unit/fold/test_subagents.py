"""The tree of an agent's run: each subagent under the call that spawned it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from golden_cases import CASES, input_of, name_of
from stenograph.fold.subagents import subagent_tree
from stenograph.fold.tree import StepNode
from stenograph.model import Event
from stenograph.sources import convert


def _all(steps: tuple[StepNode, ...]) -> Iterator[StepNode]:
    for step in steps:
        yield step
        yield from _all(step.steps)


def _runs(case: Path) -> dict[str, list[Event]]:
    runs: dict[str, list[Event]] = {}
    for event in convert(input_of(case)):
        runs.setdefault(event.run_id, []).append(event)
    return runs


AGENTS = [case for case in CASES if case.parent.name in ("claude_code", "gemini_cli", "copilot_cli", "opencode")]


@pytest.mark.parametrize("case", AGENTS, ids=name_of)
def test_a_subagent_names_the_call_that_spawned_it(case: Path) -> None:
    """By its id and by the number of its event, which is that call and comes from the subagent's parent."""
    for events in _runs(case).values():
        by_seq = {event.seq: event for event in events}
        spawned = {event.source: event.origin.parent_call_id for event in events if event.origin is not None}
        called = {event.payload.call_id for event in events if event.type == "tool.call"}
        for step in _all(subagent_tree(events).steps):
            assert step.call_id == spawned[step.path]
            assert (step.call_seq is not None) == (step.call_id in called)
            if step.call_seq is not None:
                call = by_seq[step.call_seq]
                assert (call.type, call.payload.call_id) == ("tool.call", step.call_id)
                assert step.kind == f"by {call.payload.name}"


def test_some_golden_case_has_such_a_call() -> None:
    """The test above has something to compare."""
    found = [step for case in AGENTS for run in _runs(case).values() for step in _all(subagent_tree(run).steps)]
    assert any(step.call_seq is not None for step in found)
