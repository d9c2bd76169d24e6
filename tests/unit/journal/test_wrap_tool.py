"""`wrap_tool`: any callable, sync or async, recorded at our seam and otherwise the same."""

from __future__ import annotations

import asyncio
import functools
import inspect
import operator
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stenograph import Event, Run, read_events, start_run


@pytest.fixture
def run(root: Path) -> Iterator[Run]:
    with start_run("r", root=root) as run:
        yield run


def calls(run: Run) -> list[tuple[str, Any, Any, str | None]]:
    """Name, input, output and error of every call, in order of their results."""
    asked: dict[str, Event] = {}
    found = []
    for event in read_events(run.path):
        if event.type == "tool.call":
            asked[event.payload.call_id] = event
        elif event.type == "tool.result":
            call = asked[event.payload.call_id]
            assert (call.payload.name, call.path) == (event.payload.name, event.path)
            assert (call.payload.fidelity, event.payload.fidelity) == ("router", "router")
            assert event.payload.duration_ms >= 0
            found.append((event.payload.name, call.payload.input, event.payload.output, event.payload.error))
    return found


def add(a: int, b: int = 2, *rest: int, scale: int = 1, **more: int) -> int:
    """Adds."""
    return (a + b + sum(rest) + sum(more.values())) * scale


def test_a_function_is_recorded_by_its_names(run: Run) -> None:
    """Arguments by name however they were passed; result, name, docstring and signature stay."""
    wrapped = run.wrap_tool(add)
    assert wrapped(1) == 3
    assert wrapped(1, 3, 4, scale=2, extra=5) == 26
    assert calls(run) == [
        ("add", {"a": 1}, 3, None),
        ("add", {"a": 1, "b": 3, "rest": [4], "scale": 2, "more": {"extra": 5}}, 26, None),
    ]
    assert (wrapped.__name__, wrapped.__doc__) == ("add", "Adds.")
    assert inspect.signature(wrapped) == inspect.signature(add)


class Adder:
    def __call__(self, a: int) -> int:
        return a + 1

    def method(self, a: int) -> int:
        return a + 2

    @classmethod
    def of_class(cls, a: int) -> int:
        return a + 3

    @staticmethod
    def static(a: int) -> int:
        return a + 4


@pytest.mark.parametrize(
    ("function", "name", "expected"),
    [
        (lambda a: a, "<lambda>", 1),
        (functools.partial(add, b=5), "partial", 6),
        (Adder(), "Adder", 2),
        (Adder().method, "method", 3),
        (Adder.of_class, "of_class", 4),
        (Adder.static, "static", 5),
        (abs, "abs", 1),
        (operator.neg, "neg", -1),
        (int, "int", 1),
        (str.upper, "upper", None),
    ],
)
def test_every_kind_of_callable_can_be_wrapped(run: Run, function: Any, name: str, expected: Any) -> None:
    """Lambdas, partials, callable objects, methods, builtins, classes."""
    argument = "x" if function is str.upper else 1
    assert run.wrap_tool(function)(argument) == (expected if expected is not None else "X")
    ((recorded, given, output, error),) = calls(run)
    assert (recorded, error) == (name, None)
    assert output == (expected if expected is not None else "X")
    assert argument in given.values() or [argument] in given.values()


def test_a_builtin_without_a_signature_is_recorded_by_position(run: Run) -> None:
    """Where Python knows no names, neither do we."""
    assert run.wrap_tool(max)(3, 7, key=abs) == 7
    assert calls(run) == [("max", {"args": [3, 7], "key": "<built-in function abs>"}, 7, None)]


def test_a_name_can_be_given(run: Run) -> None:
    """For lambdas, or what the agent calls it."""
    run.wrap_tool(lambda: 1, name="one")()
    assert calls(run) == [("one", {}, 1, None)]


def test_an_exception_is_recorded_and_goes_on(run: Run) -> None:
    """The very exception, with its traceback."""
    error = ValueError("no")

    def fail() -> None:
        raise error

    with pytest.raises(ValueError, match="no") as raised:
        run.wrap_tool(fail)()
    assert raised.value is error
    assert calls(run) == [("fail", {}, None, "ValueError: no")]


def test_a_wrong_call_raises_what_it_always_raised(run: Run) -> None:
    """The host sees Python's own TypeError, and the attempt is recorded."""
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        run.wrap_tool(add)()  # type: ignore[call-arg]
    ((name, _, _, error),) = calls(run)
    assert name == "add"
    assert error is not None
    assert "missing 1 required" in error


def test_an_async_function_stays_one(run: Run) -> None:
    """It is awaited inside its call, and recognized as what it is."""

    async def double(a: int) -> int:
        await asyncio.sleep(0)
        return a * 2

    wrapped = run.wrap_tool(double)
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped(4)) == 8
    assert calls(run) == [("double", {"a": 4}, 8, None)]


class AsyncCallable:
    async def __call__(self, a: int) -> int:
        return a + 1

    async def method(self, a: int) -> int:
        return a + 2


async def triple(a: int) -> int:
    return a * 3


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (AsyncCallable(), 2),
        (AsyncCallable().method, 3),
        (functools.partial(triple, 1), 3),
        (lambda a: triple(a), 3),  # sync, but returns a coroutine
    ],
)
def test_every_kind_of_async_callable_can_be_wrapped(run: Run, function: Any, expected: int) -> None:
    """Callable objects, methods, partials, and functions that return a coroutine."""
    arguments = () if isinstance(function, functools.partial) else (1,)

    async def main() -> int:
        result: int = await run.wrap_tool(function)(*arguments)
        return result

    assert asyncio.run(main()) == expected
    ((_, _, output, error),) = calls(run)
    assert (output, error) == (expected, None)


@pytest.mark.parametrize("kind", ["function", "lambda"])
def test_async_failures_and_cancellation_are_recorded(run: Run, kind: str) -> None:
    """An exception inside the coroutine, and a task that is cancelled, end the call with their name."""

    async def work(what: str) -> None:
        if what == "fail":
            raise ValueError("no")
        await asyncio.sleep(3600)

    wrapped = run.wrap_tool(work if kind == "function" else lambda what: work(what), name="work")

    async def main() -> None:
        with pytest.raises(ValueError, match="no"):
            await wrapped("fail")
        task = asyncio.create_task(wrapped("wait"))  # type: ignore[arg-type]
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert calls(run) == [
        ("work", {"what": "fail"}, None, "ValueError: no"),
        ("work", {"what": "wait"}, None, "CancelledError"),
    ]


def test_a_task_is_handed_back_as_the_task_it_is(run: Run) -> None:
    """A tool that returns a task: the host may cancel it, name it, add callbacks; we take down what becomes of it."""

    async def work(a: int) -> int:
        if a == 2:
            raise ValueError("no")
        await asyncio.sleep(3600 if a == 3 else 0)
        return a

    async def main() -> None:
        wrapped = run.wrap_tool(lambda a: asyncio.get_running_loop().create_task(work(a)), name="task")
        tasks = [wrapped(1), wrapped(2), wrapped(3)]
        assert all(isinstance(task, asyncio.Task) for task in tasks)
        await asyncio.sleep(0.01)
        tasks[2].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results[0] == 1
        assert isinstance(results[1], ValueError)
        assert isinstance(results[2], asyncio.CancelledError)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert sorted(calls(run), key=lambda call: call[1]["a"]) == [
        ("task", {"a": 1}, 1, None),
        ("task", {"a": 2}, None, "ValueError: no"),
        ("task", {"a": 3}, None, "CancelledError"),
    ]


def test_asyncio_still_tells_of_a_task_nobody_asked(run: Run) -> None:
    """Our looking at its exception is not somebody's asking: the host's log is the same as without us."""
    told: list[dict[str, Any]] = []

    async def fail() -> None:
        raise ValueError("no")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
        run.wrap_tool(lambda: asyncio.get_running_loop().create_task(fail()))()
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert [context["message"] for context in told] == ["Task exception was never retrieved"]


def test_a_generator_is_handed_on_untouched(run: Run) -> None:
    """Sync and async generators are results like any other; we do not run them."""

    def numbers() -> Iterator[int]:
        yield from (1, 2)

    async def later() -> AsyncIterator[int]:
        yield 1

    assert list(run.wrap_tool(numbers)()) == [1, 2]

    async def main() -> list[int]:
        return [number async for number in run.wrap_tool(later)()]

    assert asyncio.run(main()) == [1]
    outputs = [output for _, _, output, _ in calls(run)]
    assert outputs[0].startswith("<generator object")
    assert outputs[1].startswith("<async_generator object")


def test_a_call_stands_where_it_is_made(run: Run) -> None:
    """Wrapped on the run: in the current step of the context. Wrapped on a step: in that step."""
    with run.step("early") as early:
        on_run, on_step = run.wrap_tool(add), early.wrap_tool(add)
    with run.step("late"):
        on_run(1)
        on_step(1)
    assert [event.path for event in read_events(run.path) if event.type == "tool.call"] == ["late", "early"]


def test_tools_run_at_once(run: Run) -> None:
    """From threads and tasks: every call has its own pair, at its own place."""
    barrier = threading.Barrier(4)

    def meet(number: int) -> int:
        barrier.wait(120)
        return number

    wrapped = run.wrap_tool(meet)

    async def branch(number: int) -> None:
        with run.step(f"s{number}"):
            assert await asyncio.to_thread(wrapped, number) == number

    async def main() -> None:
        await asyncio.gather(*(branch(number) for number in range(4)))

    asyncio.run(main())
    assert sorted(calls(run), key=lambda call: call[2]) == [
        ("meet", {"number": number}, number, None) for number in range(4)
    ]
    for event in read_events(run.path):
        if event.type == "tool.call":
            assert event.path == f"s{event.payload.input['number']}"


def test_arguments_are_taken_down_before_the_call(run: Run) -> None:
    """What a tool does to its arguments does not change what it was called with."""

    def consume(items: list[int]) -> int:
        total = sum(items)
        items.clear()
        return total

    assert run.wrap_tool(consume)([1, 2]) == 3
    assert calls(run) == [("consume", {"items": [1, 2]}, 3, None)]


def test_the_duration_is_measured(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """In milliseconds, of the call alone."""
    from stenograph.journal import tool_call

    clock = iter([10.0, 10.25])
    monkeypatch.setattr(tool_call.time, "perf_counter", lambda: next(clock))
    run.wrap_tool(add)(1)
    monkeypatch.undo()
    (result,) = [event for event in read_events(run.path) if event.type == "tool.result"]
    assert result.payload.duration_ms == 250.0
