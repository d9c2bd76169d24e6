"""The tree of a run, shape by shape."""

from __future__ import annotations

import time
from typing import Any

import pytest

from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.model import Event, LifecyclePayload, MessagePayload, StreamBlock, TextBlock, ToolPayload

TIMES = {"started": "2026-06-08T08:00:00Z", "completed": "2026-06-08T08:00:01Z"}


def _event(type: str, path: str = "", payload: Any = None, **fields: Any) -> Event:
    time = TIMES.get(type.rpartition(".")[2], "2026-06-08T08:00:00.5Z")
    given: dict[str, Any] = {"seq": 1, "run_id": "r-1", "iteration": 0, "timestamp": time} | fields
    return Event(type=type, path=path, payload=payload, **given)


def _begin(path: str, name: str = "", iteration: int = 0, kind: str = "agent", **fields: Any) -> Event:
    payload = LifecyclePayload(name=name or path.rpartition(".")[2], kind=kind)
    return _event(fields.pop("type", "step.started"), path, payload, iteration=iteration, **fields)


def _end(path: str, name: str = "", iteration: int = 0, error: str | None = None, **fields: Any) -> Event:
    payload = LifecyclePayload(name=name or path.rpartition(".")[2], kind="agent", error=error)
    return _event(fields.pop("type", "step.completed"), path, payload, iteration=iteration, **fields)


def _said(path: str = "", iteration: int = 0, message_id: str | None = None, block: Any = None) -> Event:
    block = block or TextBlock(fidelity="router", text="hi")
    payload = MessagePayload(role="assistant", blocks=(block,), message_id=message_id)
    return _event("message.assistant", path, payload, iteration=iteration)


def _called(path: str = "", call_id: str = "c", fidelity: Any = "router", iteration: int = 0) -> Event:
    payload = ToolPayload(name="Read", call_id=call_id, input={}, output=None, fidelity=fidelity)
    return _event("tool.call", path, payload, iteration=iteration)


def _drawn(steps: tuple[StepNode, ...]) -> list[Any]:
    """Steps as nested lists: name, iteration, status, then what is below."""
    return [[step.name, step.iteration, step.status, *_drawn(step.steps)] for step in steps]


def test_an_empty_run() -> None:
    """No events, nothing known: running, nameless, empty."""
    assert step_tree([]) == RunNode(
        run_id="", name="", status="unknown", status_reason="nothing was said", messages=0, tool_calls=0
    )


def test_a_run_with_everything() -> None:
    """Names, times, lineage and counts, each where it belongs."""
    run = [
        _event("run.started", payload=LifecyclePayload(name="demo", kind="workflow"), parent_run_id="p-1"),
        _said(),
        _begin("review", kind="agent"),
        _said("review"),
        _called("review", "c-1"),
        _called("review", "c-2"),
        _end("review"),
        _event("run.completed", payload=LifecyclePayload(name="demo", kind="workflow")),
    ]
    assert step_tree(iter(run)) == RunNode(
        run_id="r-1",
        parent_run_id="p-1",
        name="demo",
        status="finished",
        status_reason="the run has ended",
        started_at=TIMES["started"],
        ended_at=TIMES["completed"],
        events=8,
        messages=1,
        tool_calls=0,
        steps=(
            StepNode(
                name="review",
                kind="agent",
                path="review",
                iteration=0,
                status="finished",
                started_at=TIMES["started"],
                ended_at=TIMES["completed"],
                messages=1,
                tool_calls=2,
            ),
        ),
    )


def test_steps_are_nested_by_their_paths() -> None:
    """A step stands below the one whose path its own begins with, in order of their starts."""
    run = [
        _begin("a"),
        _begin("a.b"),
        _begin("a.b.c"),
        _end("a.b.c"),
        _end("a.b"),
        _begin("a.d"),
        _end("a.d"),
        _end("a"),
        _begin("e"),
    ]
    done = "finished"
    assert _drawn(step_tree(run).steps) == [
        ["a", 0, done, ["b", 0, done, ["c", 0, done]], ["d", 0, done]],
        ["e", 0, "unknown"],
    ]


def test_iterations_are_nodes_of_their_own() -> None:
    """Each turn of a loop is one node, with its own children, counts and end."""
    run = [_begin("loop")]
    for turn in range(3):
        run += [_begin("loop.fix", iteration=turn), _said("loop.fix", turn), _begin("loop.fix.test", iteration=turn)]
        run += [
            _end("loop.fix.test", iteration=turn),
            _end("loop.fix", iteration=turn, error="red" if turn < 2 else None),
        ]
    (loop,) = step_tree([*run, _end("loop")]).steps
    assert _drawn(loop.steps) == [
        ["fix", 0, "failed", ["test", 0, "finished"]],
        ["fix", 1, "failed", ["test", 1, "finished"]],
        ["fix", 2, "finished", ["test", 2, "finished"]],
    ]
    assert [step.messages for step in loop.steps] == [1, 1, 1]


def test_a_step_that_is_tried_again_is_two_nodes() -> None:
    """Same path, same iteration, one after the other: what happened in each is counted there."""
    run = [_begin("a"), _said("a"), _end("a", error="boom"), _begin("a"), _said("a"), _said("a"), _end("a")]
    first, second = step_tree(run).steps
    assert (first.status, first.error, first.messages) == ("failed", "boom", 1)
    assert (second.status, second.error, second.messages) == ("finished", None, 2)


def test_twins_that_run_at_once_end_each_for_itself() -> None:
    """Two steps that look exactly alike, begun before either ended, are both completed at the end."""
    run = [_begin("a"), _begin("a"), _end("a"), _end("a")]
    assert [step.status for step in step_tree(run).steps] == ["finished", "finished"]
    assert [step.status for step in step_tree(run[:3]).steps] == ["unknown", "finished"]


def test_a_name_may_hold_dots() -> None:
    """The parent is what stands before the name, not before the last dot."""
    run = [_begin("v1.2", "v1.2"), _begin("v1.2.fix main.go", "fix main.go"), _end("v1.2.fix main.go", "fix main.go")]
    assert _drawn(step_tree(run).steps) == [["v1.2", 0, "unknown", ["fix main.go", 0, "finished"]]]


def test_a_step_without_a_name_can_end() -> None:
    """An empty path is an odd path, and still one step that begins and ends; messages outside stay outside."""
    node = step_tree([_begin(""), _said(""), _end("")])
    assert _drawn(node.steps) == [["", 0, "finished"]]
    assert node.messages == 1


def test_an_end_without_a_beginning_changes_nothing() -> None:
    """Not even a step at the same path in another iteration."""
    node = step_tree([_end("a"), _begin("b", iteration=1), _end("b", iteration=2)])
    assert _drawn(node.steps) == [["b", 1, "unknown"]]


def test_a_step_whose_parent_is_not_open_stands_at_the_top() -> None:
    """A journal that lost its beginning still shows every step it has."""
    assert _drawn(step_tree([_begin("gone.a"), _begin("gone.a.b")]).steps) == [
        ["a", 0, "unknown", ["b", 0, "unknown"]],
    ]


def test_a_failed_run() -> None:
    """Its error is on the run; what had not ended stays running."""
    error = LifecyclePayload(name="demo", kind="workflow", error="ValueError: boom")
    node = step_tree([_begin("a"), _event("run.completed", payload=error)])
    assert (node.status, node.error) == ("failed", "ValueError: boom")
    assert _drawn(node.steps) == [["a", 0, "unknown"]]


def test_a_called_workflow_is_a_missing_child() -> None:
    """The step knows the child's id and name; whoever has the files fills in the rest."""
    call = {"type": "step.call_workflow.started", "kind": "call_workflow", "child_run_id": "r-2"}
    done = {"type": "step.call_workflow.completed", "child_run_id": "r-2"}
    (step,) = step_tree([_begin("lint", **call), _end("lint", **done)]).steps
    assert (step.kind, step.status) == ("call_workflow", "finished")
    assert step.child == RunNode(run_id="r-2", name="lint", status="missing", messages=0, tool_calls=0)


def test_messages_are_counted_by_their_ids() -> None:
    """A message that an agent spread over several records is one; stream chunks are none."""
    chunk = StreamBlock(fidelity="agent_emitted", text="Hel")
    run = [
        _said(message_id="m-1"),
        _said(message_id="m-1"),
        _said(message_id="m-2"),
        _said(),
        _said(),
        _said(block=chunk),
    ]
    assert step_tree(run).messages == 4


def test_calls_are_counted_by_their_ids() -> None:
    """The same call seen at our seam and told by the agent is one; calls without an id are each their own."""
    run = [_called(call_id="c-1"), _called(call_id="c-1", fidelity="agent_emitted"), _called(call_id="c-2")]
    assert step_tree(run).tool_calls == 2
    assert step_tree([_called(call_id=""), _called(call_id="")]).tool_calls == 2


@pytest.mark.parametrize("payload", [None, [], "text", 5, {"name": "x"}, MessagePayload(role="user", blocks=())])
@pytest.mark.parametrize(
    "type", ["run.started", "run.completed", "step.started", "step.completed", "message.user", "tool.call"]
)
def test_garbage_payloads_never_raise(type: str, payload: Any) -> None:
    """A lifecycle event without a readable payload still begins or ends what its path names."""
    node = step_tree([_begin("a.b"), _event(type, "a.b", payload)])
    assert node.events == 2
    assert node.steps[0].path == "a.b"
    assert len(node.steps) == (2 if type == "step.started" else 1)


def test_a_step_without_a_payload_is_named_by_its_path() -> None:
    """The last part of the path is the best name there is."""
    run = [_begin("a"), _event("step.started", "a.b"), _event("step.completed", "a.b")]
    assert _drawn(step_tree(run).steps) == [["a", 0, "unknown", ["b", 0, "finished"]]]


def test_many_steps_are_quick() -> None:
    """Ten thousand steps, one after the other, with messages in them, take no noticeable time."""
    run = [_begin("loop")]
    for turn in range(10_000):
        run += [_begin("loop.x", iteration=turn), _said("loop.x", turn), _end("loop.x", iteration=turn)]
    start = time.perf_counter()
    assert len(step_tree(run).steps[0].steps) == 10_000
    assert time.perf_counter() - start < 60  # steps that are looked for among all others would take longer
