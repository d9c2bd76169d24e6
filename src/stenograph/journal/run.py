"""The run API: recording a workflow from inside it.

A run, its steps and its tool calls are context managers; what happens inside them carries their path. The current
step travels with the context (`contextvars`), so asyncio tasks inherit it; a plain thread starts without one, and
there a step's own methods say where they belong.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import uuid4

import msgspec

from stenograph.errors import InvalidEvent, StoreError
from stenograph.guard import Guard
from stenograph.journal.fanout import FanOut
from stenograph.journal.place import DEFAULT_ROOT, Root, journal_path, storage_root
from stenograph.journal.recorder import Durability, Mask, Recorder, RecorderStats
from stenograph.journal.subscription import Subscription
from stenograph.journal.tool_call import ToolCall, Write, error_text, wrap
from stenograph.jsonable import jsonable
from stenograph.model.block import Block, CommandBlock, Fidelity, StreamBlock, TextBlock
from stenograph.model.event import Event
from stenograph.model.ids import check_run_id
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    Scope,
    SystemPayload,
    UsagePayload,
)
from stenograph.model.value import Value

F = TypeVar("F", bound=Callable[..., Any])
Blocks = Iterable[Block | Mapping[str, Any]]
StepPlace = tuple[str, tuple[int, ...]]
"""The path of a step and the iterations of all steps on it, the outermost first."""


def start_run(
    name: str,
    *,
    root: Root = DEFAULT_ROOT,
    kind: str = "workflow",
    run_id: str | None = None,
    parent_run_id: str | None = None,
    durability: Durability = "os",
    mask: Mask | None = None,
    buffer: int = 256,
) -> Run:
    """Begin to record a run: `with start_run("review") as run: …`.

    Never raises on account of the recording; `run.lost` counts what could not be kept. The options are those of
    `Recorder`.
    """
    options: dict[str, Any] = {"root": root, "durability": durability, "mask": mask, "buffer": buffer}
    return Run(name, kind, _run_id(Guard(f"run {run_id}"), run_id), parent_run_id, options)


def _run_id(guard: Guard, given: str | None) -> str:
    """The id to record with: the given one, or a new one where none was given or it is not valid."""
    new = str(uuid4())
    return new if given is None else guard.attempt("anything under that run id", check_run_id, given) or new


class _Scope:
    """What a run and a step have in common: the methods that record events in them."""

    run: Run

    def _place(self) -> StepPlace:
        raise NotImplementedError

    def _record(self, what: str, type: str, payload: Callable[[], Value], **more: Any) -> Event | None:
        return self._writer()(what, type, payload, **more)

    def _writer(self) -> Write:
        """Writes to the place where we are now, also when the context has moved on."""
        path, iterations = self._place()
        return functools.partial(self.run._write, path=path, iteration=_last(iterations), iterations=_told(iterations))

    def step(self, name: str, kind: str = "operation", *, iteration: int | None = None) -> Step:
        """A step inside this one; its iteration is the enclosing one's unless given. Use it with `with`."""
        path, outer = self._place()
        return Step(self, _join(path, name), name, kind, outer, _last(outer) if iteration is None else iteration)

    def user(self, prompt: str | Blocks, system_prompt: str | None = None) -> Event | None:
        """What a person or the calling program said, with the system prompt that went along."""

        def payload() -> Value:
            blocks = _blocks(prompt, "router")
            if system_prompt is not None:
                blocks += (TextBlock(fidelity="router", text=system_prompt),)
            return MessagePayload(role="user", blocks=blocks, system_prompt=system_prompt)

        return self._record("a user message", "message.user", payload)

    def assistant(
        self,
        content: str | Blocks,
        *,
        model: str | None = None,
        message_id: str | None = None,
        stop_reason: str | None = None,
    ) -> Event | None:
        """What the agent answered: text, or blocks in their order (block values or dicts)."""
        return self._record(
            "an assistant message",
            "message.assistant",
            lambda: MessagePayload(
                role="assistant",
                blocks=_blocks(content, "agent_emitted"),
                model=model,
                message_id=message_id,
                stop_reason=stop_reason,
            ),
        )

    def stream(self, chunk: str) -> Event | None:
        """A chunk of a reply as it streams; the whole reply still goes to `assistant`."""
        block = StreamBlock(fidelity="agent_emitted", text=chunk)
        return self._record(
            "a stream chunk", "message.assistant", lambda: MessagePayload(role="assistant", blocks=(block,))
        )

    def tool(self, name: str, input: Any = None, *, call_id: str | None = None) -> ToolCall:
        """A tool call that you run yourself: `with run.tool("read", {"path": p}) as call: call.output = …`."""
        return ToolCall(self._writer(), name, input, call_id or uuid4().hex)

    def command(self, line: str, *, call_id: str | None = None) -> ToolCall:
        """A shell command that the step runs; use it like `tool`."""
        block = CommandBlock(fidelity="router", command=line)
        return ToolCall(self._writer(), "command", {"command": line}, call_id or uuid4().hex, (block,))

    def wrap_tool(self, function: F, *, name: str | None = None) -> F:
        """A wrapper of the callable, sync or async, that records every call."""
        return wrap(function, functools.partial(self.tool, name or _name_of(function)))

    def usage(
        self,
        input_tokens: int,
        output_tokens: int,
        *,
        scope: Scope = "call",
        cache_read_input_tokens: int | None = None,
        cache_creation_input_tokens: int | None = None,
        cache_creation_1h_input_tokens: int | None = None,
        reasoning_output_tokens: int | None = None,
        speed: str | None = None,
        service_tier: str | None = None,
        cost_usd: float | None = None,
        model: str | None = None,
        message_id: str | None = None,
    ) -> Event | None:
        """Tokens that a model call (or a turn, or the run so far) took; cached input is part of the input."""
        return self._record(
            "token usage",
            "token.usage",
            lambda: UsagePayload(
                scope=scope,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                cache_read_input_tokens=cache_read_input_tokens,
                cache_creation_input_tokens=cache_creation_input_tokens,
                cache_creation_1h_input_tokens=cache_creation_1h_input_tokens,
                reasoning_output_tokens=reasoning_output_tokens,
                speed=speed,
                service_tier=service_tier,
                cost_usd=cost_usd,
                model=model,
                message_id=message_id,
            ),
        )

    def error(
        self,
        message: str | BaseException,
        *,
        code: str | None = None,
        retryable: bool | None = None,
        data: Any = None,
    ) -> Event | None:
        """Something failed that is neither a tool nor the end of a step."""
        text = message if isinstance(message, str) else error_text(message) or type(message).__name__
        return self._record(
            "an error",
            "error",
            lambda: ErrorPayload(message=text, code=code, retryable=retryable, data=jsonable(data)),
        )

    def system(self, subtype: str, text: str | None = None, *, data: Any = None) -> Event | None:
        """A fact worth recording that is neither a message nor a tool call."""
        return self._record(
            "a system event",
            "system.event",
            lambda: SystemPayload(subtype=subtype, text=text, data=jsonable(data)),
        )

    def append(self, event: Event) -> Event | None:
        """An event that a format gave for what happened here; it keeps everything but its number, run and place."""
        path, iterations = self._place()
        place: dict[str, Any] = {"path": path, "iteration": _last(iterations), "iterations": _told(iterations)}
        return self.run._append(msgspec.structs.replace(event, **place))

    def call_workflow(self, name: str, *, run_id: str | None = None) -> Run:
        """A sub-workflow: a child run with a journal of its own, linked both ways. Use it with `with`."""
        run_id = _run_id(self.run._guard, run_id)
        path, outer = self._place()
        call = Step(self, _join(path, name), name, "call_workflow", outer, _last(outer), child_run_id=run_id)
        call._begin()
        return Run(name, "workflow", run_id, self.run.run_id, self.run._options, call)


class Run(_Scope):
    """A run that is being recorded. `start_run` makes one; leaving its `with` block ends it."""

    def __init__(
        self,
        name: str,
        kind: str,
        run_id: str,
        parent_run_id: str | None,
        options: dict[str, Any],
        call: Step | None = None,
    ) -> None:
        self.run = self
        self.name = name
        self.kind = kind
        self.run_id = run_id
        self.result: Any = None
        """The run's result; recorded when it ends."""
        self._call = call
        self._options = options
        self._ended = False
        self._guard = Guard(f"run {run_id}")
        self._recorder = self._guard.attempt("the run", self._open, parent_run_id)
        self._write("the start of the run", "run.started", lambda: LifecyclePayload(name=name, kind=kind))

    @property
    def path(self) -> Path:
        """The run's journal."""
        return journal_path(storage_root(self._options["root"]), self.run_id)

    @property
    def recorder(self) -> Recorder | None:
        """What writes the run; None when its journal could not be opened."""
        return self._recorder

    @property
    def mask(self) -> Mask | None:
        """What sees every event before anything is written or published."""
        mask: Mask | None = self._options["mask"]
        return mask

    @property
    def lost(self) -> int:
        """How many events could not be recorded; the log says why."""
        return self._guard.lost

    def subscribe(self, from_seq: int | None = None) -> Subscription:
        """Listen to the run, as with `Recorder.subscribe`; where nothing is recorded, nothing comes."""
        open_one = lambda: self._open_recorder().subscribe(from_seq)  # noqa: E731
        return self._guard.attempt("a subscription", open_one) or _empty_subscription()

    def stats(self) -> RecorderStats:
        """What was recorded, and everything that was lost or repaired on the way."""
        if self._recorder is None:
            return RecorderStats(run_id=self.run_id, failed=self.lost)
        return self._recorder.stats()

    def complete(self, error: str | BaseException | None = None) -> None:
        """End the run, with an error when it failed. Leaving the `with` block does it; a second time does nothing."""
        if self._ended:
            return
        self._ended = True
        text = (error or None) if isinstance(error, str) else error_text(error)

        def payload() -> Value:
            return LifecyclePayload(name=self.name, kind=self.kind, error=text, result=jsonable(self.result))

        self._write("the end of the run", "run.completed", payload)
        if self._recorder is not None:
            self._guard.attempt("the end of the run", self._recorder.close)
        if self._call is not None:
            self._call._end(text)

    def __enter__(self) -> Self:
        _enter(self) if self._call is None else _enter(self._call, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _leave(self, self._call)
        self.complete(error)

    def _open(self, parent_run_id: str | None) -> Recorder:
        return Recorder(run_id=self.run_id, parent_run_id=parent_run_id, **self._options)

    def _open_recorder(self) -> Recorder:
        if self._recorder is None:
            raise StoreError(f"run {self.run_id} is not being recorded; the log says why")
        return self._recorder

    def _place(self) -> StepPlace:
        """The place of the current context in this run: its innermost step, if any."""
        for scope in reversed(_scopes.get()):
            if scope is self:
                break
            if scope.run is self:
                return scope._place()
        return "", ()

    def _write(self, what: str, type: str, payload: Callable[[], Value], **more: Any) -> Event | None:
        return self._guard.call(what, lambda: self._open_recorder().record(type, payload(), **more))

    def _append(self, event: Event) -> Event | None:
        return self._guard.call("an event", lambda: self._open_recorder().append(event))


class Step(_Scope):
    """A step of a run. Entering it records its start, leaving it its end, with the error when the body raised."""

    def __init__(
        self,
        enclosing: _Scope,
        path: str,
        name: str,
        kind: str,
        outer: tuple[int, ...],
        iteration: int,
        child_run_id: str | None = None,
    ) -> None:
        """`outer` are the iterations of the steps around it, the outermost first."""
        self.run = enclosing.run
        self.name = name
        self.kind = kind
        self.path = path
        """Dot-separated, from the outermost step."""
        self.iteration = iteration
        self._iterations = (*outer, iteration)
        self.result: Any = None
        """The step's result; recorded when it ends."""
        self._child_run_id = child_run_id
        self._type = "step" if child_run_id is None else "step.call_workflow"

    def _place(self) -> StepPlace:
        return self.path, self._iterations

    def __enter__(self) -> Self:
        self._begin()
        _enter(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _leave(self)
        self._end(error_text(error))

    def _begin(self) -> None:
        self._record(
            "the start of a step",
            f"{self._type}.started",
            lambda: LifecyclePayload(name=self.name, kind=self.kind),
            child_run_id=self._child_run_id,
        )

    def _end(self, error: str | None) -> None:
        self._record(
            "the end of a step",
            f"{self._type}.completed",
            lambda: LifecyclePayload(name=self.name, kind=self.kind, error=error, result=jsonable(self.result)),
            child_run_id=self._child_run_id,
        )


_scopes: ContextVar[tuple[_Scope, ...]] = ContextVar("stenograph_scopes", default=())
"""What the current context is inside of, outermost first: steps of any number of runs."""


def _enter(*scopes: _Scope) -> None:
    _scopes.set((*_scopes.get(), *scopes))


def _leave(*scopes: _Scope | None) -> None:
    """Take these out, wherever they are: a framework may leave in another order, or context, than it entered."""
    _scopes.set(tuple(scope for scope in _scopes.get() if scope not in scopes))


def _empty_subscription() -> Subscription:
    nothing = FanOut(threading.RLock(), 0)
    nothing.ended = True
    return Subscription(nothing, buffer=1)


def _last(iterations: tuple[int, ...]) -> int:
    return iterations[-1] if iterations else 0


def _told(iterations: tuple[int, ...]) -> tuple[int, ...] | None:
    """What an event says of them: nothing where they are all the same, as they are outside loops within loops."""
    return iterations if len(iterations) > 1 and len(set(iterations)) > 1 else None


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _blocks(content: str | Blocks, fidelity: Fidelity) -> tuple[Any, ...]:
    if isinstance(content, str):
        return (TextBlock(fidelity=fidelity, text=content),)
    if not isinstance(content, Iterable):
        raise InvalidEvent(f"a message is {content!r}; give text, or blocks in their order")
    return tuple({"fidelity": fidelity, **block} if isinstance(block, Mapping) else block for block in content)


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", None) or type(function).__name__)
