"""The run API: what a host does, recorded where it does it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from stenograph import Event, InvalidEvent, Recorder, Run, read_events, run_tree, start_run, verify_journal
from stenograph.model import CommandBlock, StreamBlock, TextBlock, ThinkingBlock, ToolUseBlock

KINDS = ["agent", "command", "operation", "terminal", "parallel", "for_each", "while", "call_workflow", "custom"]


def events(run: Run) -> list[Event]:
    return list(read_events(run.path))


def types(run: Run) -> list[str]:
    return [event.type for event in events(run)]


def test_a_run_begins_and_ends(root: Path) -> None:
    """`run.started` at once, `run.completed` when the block is left, with the result that was set."""
    with start_run("review", root=root, kind="pipeline") as run:
        assert types(run) == ["run.started"]
        run.result = {"score": 1}
    started, completed = events(run)
    assert (started.payload.name, started.payload.kind) == ("review", "pipeline")
    assert (completed.payload.name, completed.payload.error, completed.payload.result) == ("review", None, {"score": 1})
    assert run.path == root / "transcripts" / f"{run.run_id}.jsonl"
    assert UUID(run.run_id).version == 4
    assert run.lost == 0
    assert verify_journal(run.path).ok


def test_the_options_are_those_of_the_recorder(root: Path) -> None:
    """run_id, parent_run_id, durability and buffer arrive."""
    run_id, parent = str(uuid4()), str(uuid4())
    with start_run("r", root=root, run_id=run_id, parent_run_id=parent, durability="disk", buffer=3) as run:
        slow = run.subscribe()
        for _ in range(5):
            run.system("x")
        assert slow.dropped == 2
    assert run.run_id == run_id
    assert {event.parent_run_id for event in events(run)} == {parent}
    with start_run("r", root=root, run_id=UUID(run_id)) as again:  # type: ignore[arg-type]
        assert again.run_id == run_id
    assert [event.seq for event in events(run)] == list(range(1, 10))


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_every_kind_has_a_beginning_and_an_end(root: Path, kind: str) -> None:
    """`path`, `iteration`, kind, and the result or the error."""
    with start_run("r", root=root) as run:
        with run.step("good", kind, iteration=2) as step:
            step.result = [1]
        with pytest.raises(ValueError, match="no"), run.step("bad", kind):
            raise ValueError("no")
    _, started, completed, _, failed, _ = events(run)
    assert (started.type, completed.type) == ("step.started", "step.completed")
    for event in (started, completed):
        assert (event.path, event.iteration) == ("good", 2)
        assert (event.payload.name, event.payload.kind) == ("good", kind)
    assert (completed.payload.result, completed.payload.error) == ([1], None)
    assert (failed.payload.result, failed.payload.error) == (None, "ValueError: no")
    assert verify_journal(run.path).ok


def test_steps_nest_and_paths_are_joined_by_dots(root: Path) -> None:
    """To any depth; the iteration is inherited unless given; what follows a step is outside of it again."""
    with start_run("r", root=root) as run:
        with run.step("a", iteration=3) as a:
            with run.step("b") as b, b.step("c", "agent") as c:
                assert (a.path, b.path, c.path) == ("a", "a.b", "a.b.c")
                assert (a.iteration, b.iteration, c.iteration) == (3, 3, 3)
                run.user("inside")
                a.user("above")
            run.user("between")
        run.user("after")
    said = [(event.path, event.iteration) for event in events(run) if event.type == "message.user"]
    assert said == [("a.b.c", 3), ("a", 3), ("a", 3), ("", 0)]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError(), "ValueError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (SystemExit(3), "SystemExit: 3"),
        (SystemExit("bye"), "SystemExit: bye"),
        (SystemExit(0), None),
        (SystemExit(), None),
        (GeneratorExit(), "GeneratorExit"),
    ],
)
def test_an_exception_is_recorded_and_goes_on(root: Path, error: BaseException, text: str | None) -> None:
    """In the tool, in each step and in the run; a clean exit of the program is no error."""
    run = start_run("r", root=root)

    def host() -> None:
        with run, run.step("a"), run.step("b"), run.tool("t"):
            raise error

    with pytest.raises(type(error)) as raised:
        host()
    assert raised.value is error
    ends = [event for event in events(run) if event.type in ("tool.result", "step.completed", "run.completed")]
    assert [event.payload.error for event in ends] == [text] * 4
    assert verify_journal(run.path).ok


def test_an_exception_whose_text_fails_still_goes_on(root: Path) -> None:
    """The host's own exceptions may be broken; it sees its own and not ours."""

    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    run = start_run("r", root=root)

    def host() -> None:
        with run:
            run.error(Broken())
            raise Broken

    with pytest.raises(Broken):
        host()
    assert events(run)[1].payload.message == "Broken"
    assert events(run)[-1].payload.error == "Broken"


def test_a_run_can_be_ended_without_with(root: Path) -> None:
    """`complete()` takes an error as text or exception; a second time does nothing; an empty text is none."""
    for error, text in ((None, None), ("", None), ("why", "why"), (ValueError("x"), "ValueError: x")):
        run = start_run("r", root=root)
        run.complete(error)
        run.complete("again")
        assert [event.type for event in events(run)] == ["run.started", "run.completed"]
        assert events(run)[-1].payload.error == text


def test_a_user_message_has_the_prompt_and_the_system_prompt(root: Path) -> None:
    """Verbatim, the system prompt also as the last text block, vouched for by us."""
    with start_run("r", root=root) as run:
        run.user("Review it.", "You are careful.")
        run.user("No system prompt.")
        run.user([{"type": "text", "text": "a"}, TextBlock(fidelity="agent_emitted", text="b")], "s")
    _, first, second, third, _ = events(run)
    text = [TextBlock(fidelity="router", text=each) for each in ("Review it.", "You are careful.", "No system prompt.")]
    assert first.payload.blocks == (text[0], text[1])
    assert (first.payload.role, first.payload.system_prompt) == ("user", "You are careful.")
    assert (second.payload.blocks, second.payload.system_prompt) == ((text[2],), None)
    assert [block.fidelity for block in third.payload.blocks] == ["router", "agent_emitted", "router"]


def test_an_assistant_message_keeps_its_blocks_in_order(root: Path) -> None:
    """Thinking, text and tool_use in one reply are one event with three blocks, as the agent told them."""
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "t"},
        ToolUseBlock(fidelity="agent_emitted", tool_name="n", tool_id="i", tool_input={"a": 1}),
    ]
    with start_run("r", root=root) as run:
        run.assistant("plain")
        run.assistant(blocks, model="m", message_id="id", stop_reason="tool_use")
    _, plain, mixed, _ = events(run)
    assert plain.payload.blocks == (TextBlock(fidelity="agent_emitted", text="plain"),)
    assert mixed.payload.blocks == (
        ThinkingBlock(fidelity="agent_emitted", thinking="hm"),
        TextBlock(fidelity="agent_emitted", text="t"),
        blocks[2],
    )
    payload = mixed.payload
    assert (payload.role, payload.model, payload.message_id, payload.stop_reason) == (
        "assistant",
        "m",
        "id",
        "tool_use",
    )


def test_a_stream_chunk_is_a_message_with_one_stream_block(root: Path) -> None:
    """And no part of the message's text."""
    with start_run("r", root=root) as run:
        event = run.stream("chu")
    assert event is not None
    assert event.type == "message.assistant"
    assert event.payload.blocks == (StreamBlock(fidelity="agent_emitted", text="chu"),)


def test_a_tool_call_is_a_pair_at_the_router_seam(root: Path) -> None:
    """Input on the call, output and duration on the result, one id, `router`."""
    with start_run("r", root=root) as run, run.step("s") as step:
        with step.tool("read", {"path": "a"}) as call:
            call.output = {"text": "x"}
        with step.tool("read", {"path": "a"}, call_id="mine") as other:
            pass
    _, _, asked, answered, _, last, _, _ = events(run)
    assert (asked.type, answered.type) == ("tool.call", "tool.result")
    assert (asked.payload.input, asked.payload.output, asked.payload.duration_ms) == ({"path": "a"}, None, None)
    assert (answered.payload.input, answered.payload.output) == (None, {"text": "x"})
    assert answered.payload.duration_ms >= 0
    assert {event.payload.call_id for event in (asked, answered)} == {call.call_id}
    assert {event.payload.name for event in (asked, answered)} == {"read"}
    assert {event.payload.fidelity for event in (asked, answered)} == {"router"}
    assert {event.path for event in (asked, answered)} == {"s"}
    assert other.call_id == last.payload.call_id == "mine"


def test_a_failed_tool_says_so_and_keeps_its_output(root: Path) -> None:
    """By `fail`, with text or exception, or by an exception, which goes on; an empty reason is still a failure."""
    with start_run("r", root=root) as run:
        with run.tool("t") as call:
            call.output = "half"
            call.fail("exit status 1")
        with run.tool("t") as call:
            call.fail(ValueError("x"))
        with run.tool("t") as call:
            call.fail("")

        def divide() -> None:
            with run.tool("t") as call:
                call.output = "before"
                call.output = 1 / 0

        def leave() -> None:
            with run.tool("t") as call:
                call.fail("said before")
                raise SystemExit(0)

        with pytest.raises(ZeroDivisionError):
            divide()
        with pytest.raises(SystemExit):
            leave()
    results = [event.payload for event in events(run) if event.type == "tool.result"]
    assert [(each.output, each.error) for each in results] == [
        ("half", "exit status 1"),
        (None, "ValueError: x"),
        (None, "failed"),
        ("before", "ZeroDivisionError: division by zero"),
        (None, "said before"),
    ]


def test_a_command_is_a_tool_call_with_a_command_block(root: Path) -> None:
    """The call carries the block, the result the output."""
    with start_run("r", root=root) as run, run.command("ls -l") as call:
        call.output = "total 0"
    _, asked, answered, _ = events(run)
    assert (asked.payload.name, asked.payload.input) == ("command", {"command": "ls -l"})
    assert asked.payload.blocks == (CommandBlock(fidelity="router", command="ls -l"),)
    assert (answered.payload.output, answered.payload.blocks) == ("total 0", None)


def test_a_tool_call_is_counted_once(root: Path) -> None:
    """The agent's wish is a block of its message; the call at our seam is the one `tool.call`, with the same id."""
    wish = {"type": "tool_use", "tool_name": "read", "tool_id": "c1", "tool_input": {"path": "a"}}
    with start_run("r", root=root) as run:
        run.assistant([wish])
        with run.tool("read", {"path": "a"}, call_id="c1"):
            pass
    calls = [event.payload for event in events(run) if event.type == "tool.call"]
    assert [(call.call_id, call.fidelity) for call in calls] == [("c1", "router")]
    assert [event.payload.blocks[0].fidelity for event in events(run) if event.type == "message.assistant"] == [
        "agent_emitted"
    ]


def test_usage_error_and_system_events(root: Path) -> None:
    """Their fields arrive; what is not given is absent."""
    with start_run("r", root=root) as run:
        run.usage(10, 5, scope="turn", cache_read_input_tokens=3, reasoning_output_tokens=1, model="m", message_id="i")
        run.usage(1, 2)
        run.error("bad", code="E1", retryable=True, data={"a": 1})
        run.error(ValueError("x"))
        run.error(SystemExit(0))
        run.system("compaction", "text", data={"dropped": 3})
        run.system("tick")
    _, usage, plain, error, exception, clean, system, tick, _ = (event.payload for event in events(run))
    assert (usage.scope, usage.input_tokens, usage.output_tokens, usage.model) == ("turn", 10, 5, "m")
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (3, None)
    assert (plain.scope, plain.message_id) == ("call", None)
    assert (error.message, error.code, error.retryable, error.data) == ("bad", "E1", True, {"a": 1})
    assert (exception.message, exception.code) == ("ValueError: x", None)
    assert clean.message == "SystemExit"
    assert (system.subtype, system.text, system.data) == ("compaction", "text", {"dropped": 3})
    assert (tick.subtype, tick.text) == ("tick", None)


def test_recording_methods_return_the_stored_event(root: Path) -> None:
    """As `record` does."""
    with start_run("r", root=root) as run:
        returned = [
            run.user("u"),
            run.assistant("a"),
            run.stream("s"),
            run.usage(1, 1),
            run.error("e"),
            run.system("s"),
        ]
        assert returned == events(run)[1:]


def test_a_sub_workflow_has_its_own_file_and_is_linked_both_ways(root: Path) -> None:
    """Three levels deep: child ids in the parents, parent ids on every event of the children, one tree."""
    with start_run("top", root=root) as top, top.step("work"):
        top.user("before")
        with top.call_workflow("middle") as middle, middle.step("deep"):
            middle.user("in the middle")
            with middle.call_workflow("bottom") as bottom:
                bottom.user("at the bottom")
                top.user("told from below")
            bottom_end = bottom
    assert len({top.path, middle.path, bottom.path}) == 3
    assert {event.parent_run_id for event in events(top)} == {None}
    assert {event.parent_run_id for event in events(middle)} == {top.run_id}
    assert {event.parent_run_id for event in events(bottom_end)} == {middle.run_id}
    calls = {event.type: event for event in events(top) if "call_workflow" in event.type}
    assert list(calls) == ["step.call_workflow.started", "step.call_workflow.completed"]
    for event in calls.values():
        assert (event.child_run_id, event.path) == (middle.run_id, "work.middle")
        assert (event.payload.name, event.payload.kind) == ("middle", "call_workflow")
    inner = [event for event in events(middle) if event.type == "step.call_workflow.started"]
    assert [(event.child_run_id, event.path) for event in inner] == [(bottom.run_id, "deep.bottom")]
    # Each file by itself is whole, with a series of its own.
    for run in (top, middle, bottom):
        assert [event.seq for event in events(run)] == list(range(1, len(events(run)) + 1))
        assert verify_journal(run.path).ok
    # Read together they are one tree.
    node = run_tree(root, top.run_id)
    call = node.steps[0].steps[0]
    assert call.child is not None
    assert (call.child.run_id, call.child.parent_run_id, call.child.name) == (middle.run_id, top.run_id, "middle")
    deepest = call.child.steps[0].steps[0].child
    assert deepest is not None
    assert (deepest.run_id, deepest.status, deepest.messages) == (bottom.run_id, "finished", 1)
    # What the parent says meanwhile stands at the call.
    assert [(e.path, e.payload.blocks[0].text) for e in events(top) if e.type == "message.user"] == [
        ("work", "before"),
        ("work.middle", "told from below"),
    ]


def test_a_failing_sub_workflow_fails_in_both_files(root: Path) -> None:
    """The error is in the child's end, in the parent's call and in the parent's own end."""
    with pytest.raises(ValueError, match="deep"), start_run("top", root=root) as top, top.call_workflow("c") as child:
        raise ValueError("deep")
    assert events(child)[-1].payload.error == "ValueError: deep"
    assert [event.payload.error for event in events(top)[-2:]] == ["ValueError: deep"] * 2


def test_a_sub_workflow_may_be_given_its_id(root: Path) -> None:
    """An agent's own session id becomes the child's run id."""
    run_id = str(uuid4())
    with start_run("top", root=root) as top, top.call_workflow("c", run_id=run_id.upper()) as child:
        pass
    assert child.run_id == run_id
    assert events(top)[1].child_run_id == run_id


def test_asyncio_tasks_inherit_the_step_they_were_made_in(root: Path) -> None:
    """Fifty tasks at once, each in steps of its own: every event stands where its task is."""

    async def branch(run: Run, number: int) -> None:
        with run.step(f"b{number}", "operation"):
            await asyncio.sleep(0)
            run.user(str(number))
            with run.step("inner"):
                await asyncio.sleep(0.001)
                run.assistant(str(number))
                with run.tool("t", number):
                    await asyncio.sleep(0)

    async def main() -> Run:
        with start_run("r", root=root) as run, run.step("all", "parallel"):
            await asyncio.gather(*(branch(run, number) for number in range(50)))
            run.system("after")
        return run

    run = asyncio.run(main())
    for event in events(run):
        match event.type:
            case "message.user":
                assert event.path == f"all.b{event.payload.blocks[0].text}"
            case "message.assistant":
                assert event.path == f"all.b{event.payload.blocks[0].text}.inner"
            case "tool.call":
                assert event.path == f"all.b{event.payload.input}.inner"
            case "system.event":
                assert event.path == "all"
    assert verify_journal(run.path).ok


def test_threads_record_at_once(root: Path) -> None:
    """A step's own methods say where they belong; a copied context carries the current step; a bare thread has none."""

    def branch(step: Any, run: Run, number: int) -> None:
        with step.step(f"b{number}") as mine:
            for _ in range(50):
                mine.user(str(number))
                run.assistant(str(number))

    with start_run("r", root=root) as run:
        with run.step("all", "parallel") as step, ThreadPoolExecutor(8) as pool:
            for future in [pool.submit(branch, step, run, number) for number in range(8)]:
                future.result()
            context = copy_context()
            carried = pool.submit(context.run, run.system, "carried").result()
        bare: list[Event | None] = []
        with run.step("other"):
            thread = threading.Thread(target=lambda: bare.append(run.system("bare")))
            thread.start()
            thread.join()
    said = [event for event in events(run) if event.type.startswith("message")]
    assert len(said) == 800
    assert all(event.path == f"all.b{event.payload.blocks[0].text}" for event in said)
    assert carried is not None
    assert carried.path == "all"
    assert bare[0] is not None
    assert bare[0].path == ""
    assert verify_journal(run.path).ok


def test_threads_and_tasks_together(root: Path) -> None:
    """`asyncio.to_thread` carries the step along."""

    async def branch(run: Run, number: int) -> None:
        with run.step(f"b{number}"):
            await asyncio.to_thread(run.user, str(number))

    async def main() -> Run:
        with start_run("r", root=root) as run:
            await asyncio.gather(*(branch(run, number) for number in range(20)))
        return run

    for event in events(asyncio.run(main())):
        if event.type == "message.user":
            assert event.path == f"b{event.payload.blocks[0].text}"


def test_runs_inside_one_another_keep_their_own_places(root: Path) -> None:
    """Two independent runs in one context, entered in any order: each knows its own innermost step."""
    with start_run("a", root=root) as a, start_run("b", root=root) as b:
        with a.step("s"), b.step("t"), a.step("u"):
            placed = [a.user("x"), b.user("y")]
        with b.step("t"), a.step("s"):
            placed += [a.user("x"), b.user("y")]
        placed += [a.user("x"), b.user("y")]
    assert [event.path for event in placed if event] == ["s.u", "t", "s", "t", "", ""]


def test_a_step_left_in_another_context_is_still_left(root: Path) -> None:
    """As some frameworks do with generators, and in another order: no exception, and every step ends."""
    with start_run("r", root=root) as run:
        step = run.step("s")
        step.__enter__()
        copy_context().run(step.__exit__, None, None, None)
        first, second = run.step("first"), run.step("second")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        event = run.user("x")
        assert event is not None
        assert event.path == second.path
        second.__exit__(None, None, None)
    assert verify_journal(run.path).ok


def test_a_run_can_be_listened_to(root: Path) -> None:
    """`subscribe` and `stats` are the recorder's."""
    with start_run("r", root=root) as run:
        live, all_of_it = run.subscribe(), run.subscribe(from_seq=1)
        run.user("x")
        assert run.stats().events == 2
    assert [event.seq for event in live] == [2, 3]
    assert [event.seq for event in all_of_it] == [1, 2, 3]


def test_strict_raises_what_is_wrong(root: Path) -> None:
    """Under STENOGRAPH_STRICT=1 the run API raises like the recorder."""
    with start_run("r", root=root) as run:
        with pytest.raises(InvalidEvent):
            run.user(5)  # type: ignore[arg-type]
        with pytest.raises(InvalidEvent):
            run.usage(-1, 0)
    with pytest.raises(InvalidEvent):
        start_run("r", root=root, run_id="x")
    with Recorder(root) as recorder, pytest.raises(OSError, match="is being written"):
        start_run("r", root=root, run_id=recorder.run_id)


def test_an_event_says_the_iterations_around_it_where_they_differ(root: Path) -> None:
    """A loop inside a loop; not where one number says it all, and a sub-workflow begins anew."""
    with start_run("r", root=root) as run, run.step("each", iteration=1) as each:
        with each.step("inner", "while", iteration=0) as inner:
            inner.user("one")
            with inner.step("deep") as deep, deep.call_workflow("child") as child:
                child.user("two")
        with each.step("inner", "while", iteration=1) as inner:
            inner.user("three")
    told = {(event.type, event.path, event.iteration, event.iterations) for event in events(run)}
    assert ("step.started", "each.inner", 0, (1, 0)) in told
    assert ("message.user", "each.inner", 0, (1, 0)) in told
    assert ("step.call_workflow.started", "each.inner.deep.child", 0, (1, 0, 0, 0)) in told
    assert ("message.user", "each.inner", 1, None) in told
    assert {event.iterations for event in read_events(child.path)} == {None}
    assert verify_journal(run.path).ok


@pytest.mark.parametrize("given", [(1, 0.5), (1, -1), "10", (0, 2), (True, 0)])
def test_iterations_that_make_no_sense_are_refused(root: Path, given: Any) -> None:
    """By the recorder, with a word on what to give."""
    with Recorder(root) as recorder, pytest.raises(InvalidEvent, match="one whole number per step"):
        recorder.record("error", {"message": "m"}, iteration=0, iterations=given)
