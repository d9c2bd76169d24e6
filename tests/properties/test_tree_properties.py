"""What always holds for the tree of a run and for what it left open."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import copy_context
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stenograph import read_events, start_run
from stenograph.fold.open_ends import open_ends
from stenograph.fold.tree import DEEPEST, RunNode, StepNode, step_tree
from stenograph.model import Event, LifecyclePayload, TextBlock, ToolPayload
from stenograph.model.payload import MessagePayload
from strategies import BRIEF, PATIENT, RUN_ID, runs


def _event(type: str, path: str, payload: Any, iteration: int = 0) -> Event:
    return Event(
        seq=0,
        run_id=RUN_ID,
        type=type,
        path=path,
        iteration=iteration,
        timestamp="2026-06-08T08:14:42Z",
        payload=payload,
    )


def _said(path: str, iteration: int) -> Event:
    block = TextBlock(fidelity="router", text="hi")
    return _event("message.user", path, MessagePayload(role="user", blocks=(block,)), iteration)


def _called(path: str, iteration: int) -> Event:
    payload = ToolPayload(name="t", call_id="", input={}, output=None, fidelity="router")
    return _event("tool.call", path, payload, iteration)


def _with_call_ids(made: list[Event], prefix: str) -> list[Event]:
    return [
        replace(event, payload=replace(event.payload, call_id=f"{prefix}-{number}"))
        if event.type == "tool.call"
        else event
        for number, event in enumerate(made)
    ]


@st.composite
def branches(draw: st.DrawFn, name: str, iteration: int = 0, parent: str = "", depth: int = 2) -> list[Event]:
    """The events of one step with everything in it, as one thread records them; now and then it never ends."""
    path = f"{parent}.{name}" if parent else name
    start = LifecyclePayload(name=name, kind=draw(st.sampled_from(["agent", "operation", "while"])))
    made = [_event("step.started", path, start, iteration)]
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["message", "call", "step"]))
        if kind == "step" and depth:
            # A name may hold dots; a step may be tried again.
            child = draw(st.sampled_from(["fix", "v1.2", "a.b.c", "fix"]))
            made += draw(branches(child, iteration, path, depth - 1))
        else:
            made.append(_said(path, iteration) if kind == "message" else _called(path, iteration))
    if depth < 2 or draw(st.integers(0, 3)):
        error = draw(st.sampled_from([None, None, "boom"]))
        made.append(
            _event("step.completed", path, LifecyclePayload(name=name, kind=start.kind, error=error), iteration)
        )
    return _with_call_ids(made, f"{name}-{iteration}") if not parent else made


@st.composite
def interleaved(draw: st.DrawFn, *threads: list[Event]) -> list[Event]:
    """The events of several threads, each in its own order, mixed in any way."""
    rest = [list(thread) for thread in threads if thread]
    mixed = []
    while rest:
        thread = draw(st.sampled_from(rest))
        mixed.append(thread.pop(0))
        rest = [each for each in rest if each]
    return mixed


def _counted(steps: tuple[StepNode, ...]) -> tuple[int, int, int]:
    steps_in, messages, calls = len(steps), 0, 0
    for step in steps:
        below = _counted(step.steps)
        steps_in += below[0]
        messages += step.messages + below[1]
        calls += step.tool_calls + below[2]
    return steps_in, messages, calls


@PATIENT
@given(st.data(), branches("left"), branches("right"))
def test_branches_do_not_disturb_each_other(data: st.DataObject, left: list[Event], right: list[Event]) -> None:
    """Any interleaving of two parallel branches gives each the tree it has alone."""
    mixed = data.draw(interleaved(left, right))
    steps = {step.name: step for step in step_tree(mixed).steps}
    assert steps == {"left": step_tree(left).steps[0], "right": step_tree(right).steps[0]}


@PATIENT
@given(st.data(), branches("each", 0), branches("each", 1))
def test_iterations_that_run_at_once_do_not_disturb_each_other(
    data: st.DataObject, first: list[Event], second: list[Event]
) -> None:
    """The same step in two iterations at the same time: what happens in one is counted there."""
    mixed = data.draw(interleaved(first, second))
    steps = {step.iteration: step for step in step_tree(mixed).steps}
    assert steps == {0: step_tree(first).steps[0], 1: step_tree(second).steps[0]}


@PATIENT
@given(branches("only"))
def test_everything_is_counted_once(branch: list[Event]) -> None:
    """Each start is a node, each message and each call is counted in the step it stands in."""
    node = step_tree(branch)
    types = [event.type for event in branch]
    assert _counted(node.steps) == (types.count("step.started"), types.count("message.user"), types.count("tool.call"))
    assert (node.messages, node.tool_calls, node.events) == (0, 0, len(branch))


@PATIENT
@given(branches("only"))
def test_paths_say_where_a_step_stands(branch: list[Event]) -> None:
    """Every step's path is its parent's path, a dot and its name."""

    def check(steps: tuple[StepNode, ...], above: str) -> None:
        for step in steps:
            assert step.path == above + step.name
            check(step.steps, f"{step.path}.")

    check(step_tree(branch).steps, "")


@PATIENT
@given(branches("only"))
def test_open_ends_are_the_steps_that_the_tree_shows_as_running(branch: list[Event]) -> None:
    """The two views of a run agree about what never ended."""
    numbered = [replace(event, seq=seq) for seq, event in enumerate(branch, 1)]
    open_steps = sorted(end.what for end in open_ends(numbered) if end.kind == "open_step")

    def running(steps: tuple[StepNode, ...]) -> list[str]:
        return [path for step in steps for path in ([step.path] * (step.status == "unknown") + running(step.steps))]

    assert open_steps == sorted(running(step_tree(numbered).steps))


@BRIEF
@given(runs())
def test_any_events_have_a_tree(run: list[Event]) -> None:
    """Garbage never raises: every event is counted, every start is a step."""
    node = step_tree(run)
    starts = [event for event in run if event.type in ("step.started", "step.call_workflow.started")]
    assert node.events == len(run)
    assert _counted(node.steps)[0] == len(starts)
    assert node.status in ("unknown", "finished", "failed")


@BRIEF
@given(runs())
def test_any_events_have_open_ends_or_none(run: list[Event]) -> None:
    """Garbage never raises: ends are sorted by where they stand, and each is of a known kind."""
    ends = open_ends(run)
    assert [end.seq for end in ends] == sorted(end.seq for end in ends)
    assert {end.kind for end in ends} <= {"open_run", "open_step", "open_call", "stray_step", "stray_result"}


@PATIENT
@given(branches("only"), st.randoms(use_true_random=False))
def test_steps_out_of_order_never_raise(branch: list[Event], random: Any) -> None:
    """A shuffled journal still gives one node per start."""
    random.shuffle(branch)
    node = step_tree(branch)
    assert _counted(node.steps)[0] == sum(event.type == "step.started" for event in branch)


@BRIEF
@given(st.integers(1, 4 * DEEPEST))
def test_steps_may_be_nested_to_any_depth(depth: int) -> None:
    """No step is lost, and the tree is never too deep for those who walk it."""
    names = [f"s{level}" for level in range(depth)]
    made = [
        _event("step.started", ".".join(names[: level + 1]), LifecyclePayload(name=name, kind="k"))
        for level, name in enumerate(names)
    ]
    node: RunNode = step_tree([*made, *(replace(event, type="step.completed") for event in reversed(made))])
    levels, steps, found = 0, node.steps, []
    while steps:
        levels += 1
        found += [step.path for step in steps]
        assert all(step.status == "finished" for step in steps)
        steps = tuple(below for step in steps for below in step.steps)
    assert found == [event.path for event in made]
    assert levels == min(depth, DEEPEST)


turns = st.none() | st.integers(0, 2)
Plan = list[Any]
"""What happens in a step, in order: "say", or a step as its name, iteration and plan."""
plans: st.SearchStrategy[Plan] = st.recursive(
    st.just("say"),
    lambda inner: st.lists(
        inner
        | st.tuples(st.sampled_from(["inner", "a.b"]), st.none() | st.integers(0, 2), st.lists(inner, max_size=2)),
        max_size=3,
    ),
    max_leaves=8,
).map(lambda plan: plan if isinstance(plan, list) else [plan])


def _work(scope: Any, plan: Plan) -> Iterator[None]:
    """Do what a plan says by the run API; other threads may go on wherever this yields."""
    for item in plan:
        if item == "say":
            scope.user("hi")
            yield
        elif isinstance(item, list):
            yield from _work(scope, item)
        else:
            name, iteration, below = item
            with scope.step(name, "while", iteration=iteration) as step:
                yield
                yield from _work(step, below)


def _planned(plan: Plan, iteration: int) -> tuple[int, list[Any]]:
    """Messages and steps of a plan."""
    said, steps = 0, []
    for item in plan:
        if item == "say":
            said += 1
        elif isinstance(item, list):
            more, below = _planned(item, iteration)
            said, steps = said + more, [*steps, *below]
        else:
            turn = iteration if item[1] is None else item[1]
            steps.append((item[0], turn, *_planned(item[2], turn)))
    return said, steps


def _grown(step: StepNode) -> tuple[Any, ...]:
    return step.name, step.iteration, step.messages, [_grown(each) for each in step.steps]


@PATIENT
@given(st.lists(plans, min_size=1, max_size=3), st.integers(0, 2**32))
def test_parallel_iterations_with_loops_inside_are_told_apart(work: list[Plan], seed: int) -> None:
    """However the threads of a loop interleave, each step and message is below its own iteration; nothing is open."""
    with TemporaryDirectory() as root, start_run("r", root=root) as run:
        threads = [_work(run, [("each", number, plan)]) for number, plan in enumerate(work)]
        contexts = [copy_context() for _ in threads]
        going, chance = list(range(len(threads))), Random(seed)
        while going:
            at = chance.choice(going)
            if contexts[at].run(next, threads[at], StopIteration) is StopIteration:
                going.remove(at)
        events = list(read_events(run.path))
    tree = step_tree(events)
    found = sorted((_grown(step) for step in tree.steps), key=lambda step: step[1])
    assert found == [("each", number, *_planned(plan, number)) for number, plan in enumerate(work)]
    assert [end.kind for end in open_ends(events)] == ["open_run"]
