"""A run's tree as lines."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.fold.tree import RunNode, StepNode
from stenograph.render.tree import tree_lines

START, END = "2026-06-08T08:00:00Z", "2026-06-08T08:00:01.5Z"


def _run(*steps: StepNode, **fields: Any) -> RunNode:
    given: dict[str, Any] = {"run_id": "r-1", "name": "demo", "status": "finished", "messages": 0, "tool_calls": 0}
    return RunNode(**(given | {"started_at": START, "ended_at": END, "steps": steps} | fields))


def _step(name: str, *steps: StepNode, **fields: Any) -> StepNode:
    given: dict[str, Any] = {"name": name, "kind": "agent", "path": name, "iteration": 0, "status": "finished"}
    given |= {"started_at": START, "ended_at": END, "messages": 0, "tool_calls": 0, "steps": steps}
    return StepNode(**(given | fields))


def _missing(run_id: str = "r-2", name: str = "lint") -> RunNode:
    return RunNode(run_id=run_id, name=name, status="missing", messages=0, tool_calls=0)


def test_a_tree_is_drawn() -> None:
    """Runs, steps, iterations, failures, what is still running, and called runs below the step that called them."""
    child = _run(_step("check"), run_id="r-2", name="lint", messages=2)
    node = _run(
        _step("review", _step("fix", iteration=1, status="failed", error="red\nagain"), messages=1, tool_calls=3),
        _step("lint", _step("after"), kind="call_workflow", child=child),
        _step("wait", status="running", ended_at=None),
        messages=1,
    )
    assert list(tree_lines(node)) == [
        "✓ demo run r-1, 1 message, 1.5 s",
        "├─ ✓ review (agent), 1 message, 3 tool calls, 1.5 s",
        "│  └─ ✗ fix #1 (agent), 1.5 s, failed: red␊again",
        "├─ ✓ lint (call_workflow), 1.5 s",
        "│  ├─ ✓ lint run r-2, 2 messages, 1.5 s",
        "│  │  └─ ✓ check (agent), 1.5 s",
        "│  └─ ✓ after (agent), 1.5 s",
        "└─ … wait (agent), not ended",
    ]


def test_a_missing_run_is_said_to_be_missing() -> None:
    """At the top and below a step: its id, its name, and that its journal is not here."""
    line = "? run r-2 (lint): its journal is not here"
    assert list(tree_lines(_missing())) == [line]
    assert list(tree_lines(_run(_step("lint", child=_missing()))))[2] == f"   └─ {line}"


@pytest.mark.parametrize(
    ("started_at", "ended_at"),
    [(None, None), ("", ""), ("soon", END), (START, "2026-06-08T08:00:01"), ("\ud800", "\ud800")],
)
def test_times_that_cannot_be_read_are_left_out(started_at: str | None, ended_at: str | None) -> None:
    """No duration rather than a wrong one or an exception."""
    assert list(tree_lines(_run(started_at=started_at, ended_at=ended_at))) == ["✓ demo run r-1"]


def test_a_run_without_a_name_is_a_run() -> None:
    """Running, nameless, empty: still one line."""
    assert list(tree_lines(_run(name="", status="running"))) == ["… run r-1, not ended"]


def test_nothing_in_a_tree_is_obeyed() -> None:
    """Names, kinds, ids and errors with escapes, overrides and line breaks stay on their line."""
    evil = "x\x1b[2J\r\n\u202e"
    shown = "x␛[2J␊\\u202e"
    step = _step(evil, kind=evil, error=evil, status="failed", child=_missing(evil, evil))
    assert list(tree_lines(_run(step, run_id=evil, name=evil, error=evil, status="failed"))) == [
        f"✗ {shown} run {shown}, 1.5 s, failed: {shown}",
        f"└─ ✗ {shown} ({shown}), 1.5 s, failed: {shown}",
        f"   └─ ? run {shown} ({shown}): its journal is not here",
    ]
