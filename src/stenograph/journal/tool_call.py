"""A tool call that we observe ourselves: its input, its output, and how long it took."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from stenograph.jsonable import jsonable
from stenograph.model.block import Block
from stenograph.model.event import Event
from stenograph.model.payload import ToolPayload

F = TypeVar("F", bound=Callable[..., Any])
Write = Callable[..., Event | None]
"""`write(what, type, payload)` records an event at the place of the call, guarded."""


class ToolCall:
    """A running tool call. Set `output`, or call `fail("why")`; an exception is recorded and raised on."""

    def __init__(
        self, write: Write, name: str, input: Any, call_id: str, blocks: tuple[Block, ...] | None = None
    ) -> None:
        self.name = name
        self.call_id = call_id
        self.output: Any = None
        self.error: str | None = None
        self._write = write
        self._input = input
        self._blocks = blocks

    def fail(self, why: str | BaseException) -> None:
        """Note that the tool failed; its output so far stays."""
        self.error = (why if isinstance(why, str) else error_text(why)) or "failed"

    def __enter__(self) -> Self:
        self._write("a tool call", "tool.call", lambda: self._payload(input=jsonable(self._input), blocks=self._blocks))
        self._began = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        duration = round((time.perf_counter() - self._began) * 1000, 3)
        if error is not None:
            self.error = error_text(error) or self.error
        self._write(
            "a tool result",
            "tool.result",
            lambda: self._payload(output=jsonable(self.output), error=self.error, duration_ms=duration),
        )

    def _payload(self, **more: Any) -> ToolPayload:
        fields = {"input": None, "output": None} | more
        return ToolPayload(name=self.name, call_id=self.call_id, fidelity="router", **fields)


def error_text(error: BaseException | None) -> str | None:
    """An exception as one line; none for a clean exit of the program."""
    if error is None or (isinstance(error, SystemExit) and not error.code):
        return None
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # the host's exceptions may do anything
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def wrap(function: F, begin: Callable[[Any], ToolCall]) -> F:
    """A wrapper of the callable, sync or async; each call runs inside the `ToolCall` that `begin` makes."""
    bind = _binder(function)
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        entered = begin(bind(args, kwargs)).__enter__()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            entered.__exit__(type(error), error, error.__traceback__)
            raise
        asyncio = sys.modules.get("asyncio")
        if asyncio is not None and asyncio.isfuture(result):  # the host may need the task itself
            result.add_done_callback(functools.partial(_finish_later, entered))
            return result
        if inspect.isawaitable(result):
            return _finish(entered, result)
        entered.output = result
        entered.__exit__(None, None, None)
        return result

    @functools.wraps(function, updated=())
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        with begin(bind(args, kwargs)) as entered:
            entered.output = result = await function(*args, **kwargs)
            return result

    return call_async if is_async else call  # type: ignore[return-value]


async def _finish(call: ToolCall, result: Awaitable[Any]) -> Any:
    """Await what a sync callable returned, inside its call."""
    try:
        call.output = value = await result
    except BaseException as error:
        call.__exit__(type(error), error, error.__traceback__)
        raise
    call.__exit__(None, None, None)
    return value


def _finish_later(call: ToolCall, done: Any) -> None:
    """Record the result of a task."""
    if done.cancelled():
        call.fail("CancelledError")
    elif done._exception is not None:  # to ask for it by `exception()` would keep asyncio from telling the host
        call.fail(done._exception)
    else:
        call.output = done.result()
    call.__exit__(None, None, None)


def _binder(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], dict[str, Any]]:
    """A function that names arguments as the wrapped function's parameters."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have none
        signature = None

    def bind(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if signature is not None:
            try:
                return dict(signature.bind(*args, **kwargs).arguments)
            except TypeError:
                pass  # the call itself will say so
        return ({"args": list(args)} if args else {}) | kwargs

    return bind
