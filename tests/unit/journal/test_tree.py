"""Runs and the runs they called, from the journals in one folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from stenograph import Recorder, Run, RunNotFound, run_tree, start_run
from stenograph.journal.tree import missing_runs, tree_of


@pytest.fixture
def top(root: Path) -> tuple[Run, Run]:
    """A run with a loop and a sub-workflow."""
    with start_run("top", root=root) as run:
        for number in range(2):
            with run.step("loop", "while", iteration=number) as step:
                step.user("x")
        with run.step("call", "operation"), run.call_workflow("child") as child, child.step("inner", "agent") as step:
            step.assistant("y")
            with step.tool("t"):
                pass
    return run, child


def test_a_tree_has_steps_iterations_and_called_runs(root: Path, top: tuple[Run, Run]) -> None:
    """By a run id or its beginning."""
    run, child = top
    tree = run_tree(root, run.run_id[:13])
    assert (tree.run_id, tree.name, tree.status, tree.journal) == (run.run_id, "top", "finished", str(run.path))
    assert [(step.path, step.iteration, step.kind, step.messages) for step in tree.steps] == [
        ("loop", 0, "while", 1),
        ("loop", 1, "while", 1),
        ("call", 0, "operation", 0),
    ]
    called = tree.steps[2].steps[0].child
    assert called is not None
    assert (called.run_id, called.parent_run_id, called.journal) == (child.run_id, run.run_id, str(child.path))
    inner = called.steps[0]
    assert (inner.name, inner.kind, inner.messages, inner.tool_calls) == ("inner", "agent", 1, 1)
    assert missing_runs(tree) == []


def test_a_journal_that_is_not_there_is_missing(root: Path, top: tuple[Run, Run]) -> None:
    """The called run is named, with the name its caller gave it."""
    run, child = top
    child.path.unlink()
    tree = run_tree(root, run.run_id)
    called = tree.steps[2].steps[0].child
    assert called is not None
    assert (called.run_id, called.name, called.status) == (child.run_id, "child", "missing")
    assert missing_runs(tree) == [child.run_id]


def test_a_child_id_that_is_none_builds_no_path(root: Path) -> None:
    """A hostile journal cannot make us read elsewhere."""
    with Recorder(root) as recorder:
        recorder.record("run.started", {"name": "r", "kind": "workflow"})
    (root / "secret.jsonl").write_text('{"seq":1,"type":"run.started","payload":{"name":"secret","kind":"k"}}\n')
    with recorder.path.open("a") as file:
        file.write(
            '{"seq":2,"run_id":"r","child_run_id":"../secret","type":"step.call_workflow.started","path":"c",'
            '"iteration":0,"timestamp":"t","payload":{"name":"c","kind":"call_workflow"}}\n'
        )
    called = tree_of(recorder.path).steps[0].child
    assert called is not None
    assert (called.run_id, called.status, called.name) == ("../secret", "missing", "c")


def test_a_run_that_calls_itself_ends(root: Path) -> None:
    """A cycle of journals, as only an accident makes one."""
    with Recorder(root) as recorder:
        recorder.record("run.started", {"name": "r", "kind": "workflow"})
        recorder.record(
            "step.call_workflow.started",
            {"name": "me", "kind": "call_workflow"},
            path="me",
            child_run_id=recorder.run_id,
        )
    tree = tree_of(recorder.path)
    assert tree.steps[0].child is not None
    assert tree.steps[0].child.steps == ()


def test_a_missing_run_is_not_found(root: Path) -> None:
    """As everywhere."""
    with pytest.raises(RunNotFound):
        run_tree(root, "550e")


def test_a_failed_and_a_running_run_say_so(root: Path) -> None:
    """Status and error, of runs and steps."""
    with pytest.raises(ValueError, match="no"), start_run("bad", root=root) as bad, bad.step("s"):
        raise ValueError("no")
    tree = run_tree(root, bad.run_id)
    assert (tree.status, tree.error) == ("failed", "ValueError: no")
    assert (tree.steps[0].status, tree.steps[0].error) == ("failed", "ValueError: no")
    live = start_run("live", root=root)
    with live.step("s"):
        tree = run_tree(root, live.run_id)
        assert (tree.status, tree.steps[0].status, tree.ended_at) == ("running", "running", None)
    live.complete()


def test_sub_workflows_to_great_depth(root: Path) -> None:
    """Sixty runs, each called by the one before."""
    runs = [start_run("r", root=root)]
    for _ in range(59):
        runs.append(runs[-1].call_workflow("c"))
    for run in reversed(runs):
        run.complete()
    node = run_tree(root, runs[0].run_id)
    depth = 1
    while node.steps:
        child = node.steps[0].child
        assert child is not None
        assert child.parent_run_id == node.run_id
        node = child
        depth += 1
    assert depth == 60
