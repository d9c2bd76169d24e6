"""`steno tree`."""

from __future__ import annotations

from typing import Any


def test_a_tree_is_drawn(steno: Any, recorded: Any) -> None:
    """Runs, steps, kinds, counts, down to the called run."""
    run, child = recorded
    shown = steno("tree", run.path)
    assert (shown.code, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0].startswith(f"✓ review run {run.run_id}")
    assert lines[1].startswith("└─ ✓ read (agent), 2 messages, 1 tool call")
    assert lines[2].startswith("   └─ ✓ release (call_workflow)")
    assert lines[3].startswith(f"      └─ ✓ release run {child.run_id}, 1 message")


def test_json_is_one_object(steno: Any, recorded: Any) -> None:
    """Nested runs and steps."""
    run, child = recorded
    tree = steno("tree", run.path, "--json").json
    assert (tree["run_id"], tree["status"], tree["journal"]) == (run.run_id, "finished", str(run.path))
    called = tree["steps"][0]["steps"][0]["child"]
    assert (called["run_id"], called["parent_run_id"]) == (child.run_id, run.run_id)


def test_a_missing_child_is_named(steno: Any, recorded: Any) -> None:
    """In the tree and on stderr; that is no failure of the command."""
    run, child = recorded
    child.path.unlink()
    shown = steno("tree", run.path)
    assert shown.code == 0
    assert f"? run {child.run_id} (release): its journal is not here" in shown.out
    assert shown.err == f"steno: the journal of the called run {child.run_id} is not here\n"
    as_json = steno("tree", run.path, "--json")
    assert as_json.json["steps"][0]["steps"][0]["child"]["status"] == "missing"
    assert child.run_id in as_json.err


def test_a_child_may_be_shown_alone(steno: Any, recorded: Any) -> None:
    """Each file is self-contained."""
    run, child = recorded
    run.path.unlink()
    shown = steno("tree", child.path, "--json").json
    assert (shown["run_id"], shown["parent_run_id"]) == (child.run_id, run.run_id)
