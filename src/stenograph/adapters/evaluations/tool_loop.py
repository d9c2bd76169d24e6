"""The tool loop: ask the model, run the tools that it calls, send it their results, until it answers.

Theory of operation. The loop is a generator without I/O: it yields what it needs, a model call (`Ask`) or a tool
(`Use`), and is sent the result, or thrown the exception. `drive` and `adrive` do the work, one in a plain thread and
one in an event loop; everything else is written once. A `Wording` holds the form of one API.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Protocol

import msgspec
from msgspec import Struct, field

from stenograph.adapters.evaluations.evaluation import Call, Evaluation
from stenograph.adapters.evaluations.model_config import MAX_TURNS, ModelConfig
from stenograph.adapters.evaluations.model_wire import plain
from stenograph.adapters.outputs import Outputs, Target
from stenograph.adapters.prompt import Prompt, Response, prompt_of
from stenograph.adapters.tool import Tool, result_text, tools_of
from stenograph.errors import AgentError
from stenograph.journal.tool_call import error_text
from stenograph.model.codec import REFUSALS
from stenograph.session import Session


class Said(Struct, frozen=True):
    """What the loop needs of an answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    error: str | None = None
    """Why the model failed, when the answer says that it did."""


class Wording(Protocol):
    """A conversation in the form of one API; it holds what was said so far."""

    format_name: str
    path: str

    def request(self) -> dict[str, Any]:
        """The parameters of the next model call."""

    def read(self, answer: dict[str, Any] | list[dict[str, Any]]) -> Said:
        """What an answer, or the chunks of one, says; the next request will repeat it."""

    def give(self, call: Call, text: str) -> None:
        """Add what a tool gave back."""


class Ask(Struct, frozen=True):
    """The loop needs an answer of the model: an object, or None when it was streamed."""

    request: dict[str, Any]
    chunks: list[Any] = field(default_factory=list)
    """Where the chunks of a stream go as they come, so that they are there when it breaks off."""


class Use(Struct, frozen=True):
    """The loop needs a tool to be run."""

    tool: Tool
    arguments: dict[str, Any]


Steps = Generator[Ask | Use, Any, Response]


class Asking(Struct, frozen=True, kw_only=True):
    """What all adapters that evaluate prompts share."""

    adapter: str
    model: str
    config: ModelConfig
    words: Callable[[Prompt, dict[str, Tool], dict[str, Any]], Wording]
    logger: logging.Logger | None

    def steps(self, prompt: Prompt | str, session: Session | None, recorder: Target | None) -> Steps:
        """The loop of one evaluation."""
        prompt = prompt_of(prompt)
        tools = tools_of(prompt.tools)
        wording = self.words(prompt, tools, self.config.request(self.model))
        evaluation = Evaluation(
            prompt,
            adapter=self.adapter,
            format_name=wording.format_name,
            path=wording.path,
            outputs=Outputs(
                recorder=recorder,
                session=session if self.config.capture_transcript else None,
                session_id=None if session is None else str(session.session_id),
                logger=self.logger,
                text_transcripts=self.config.text_transcripts,
            ),
            session=session,
        )
        return steps(evaluation, wording, tools, self.config.max_turns)


def steps(evaluation: Evaluation, wording: Wording, tools: dict[str, Tool], max_turns: int = MAX_TURNS) -> Steps:
    """One evaluation, recorded as it goes. Tools run one after the other, in the model's order."""
    evaluation.begin()
    try:
        said = yield from _turn(evaluation, wording)
        for _ in range(max_turns - 1):
            if not said.calls:
                break
            for call in said.calls:
                text = yield from _use(evaluation, call, tools.get(call.name))
                wording.give(call, text)
            said = yield from _turn(evaluation, wording)
        if said.calls:
            why = f"the model still called tools in turn {max_turns}; raise max_turns in the model config"
            evaluation.gave_up(why)
            raise AgentError(why)
        return evaluation.end(said.text)
    except BaseException as error:
        evaluation.end(error=error)
        raise


def _turn(evaluation: Evaluation, wording: Wording) -> Generator[Ask, Any, Said]:
    ask = Ask(wording.request())
    evaluation.asked(ask.request)
    try:
        answer = yield ask
    except BaseException as error:
        if ask.chunks:
            evaluation.answered(plain(ask.chunks))
        evaluation.failed(error)
        raise
    answer = plain(ask.chunks if answer is None else answer)
    if not isinstance(answer, dict | list):
        evaluation.answered(answer)
        raise AgentError(
            f"the server returned {str(answer)[:80]!r}, which is not an answer of a model; check its address"
        )
    said = wording.read(answer)
    evaluation.answered(answer, said.calls)
    if said.error is not None:
        raise AgentError(f"the model failed: {said.error}")
    return said


def _use(evaluation: Evaluation, call: Call, tool: Tool | None) -> Generator[Use, Any, str]:
    """Run one call; any error goes to the model, which may try again."""
    began = time.perf_counter()
    text, error = "", None
    try:
        if tool is None:
            raise LookupError(f"unknown tool {call.name!r}")
        text = result_text((yield Use(tool, tool.bind(_arguments(call)))))
    except BaseException as fault:
        error = error_text(fault) or type(fault).__name__
        text = f"Error: {error}"
        if not isinstance(fault, Exception):
            raise
    finally:
        evaluation.used(call, text, error, round((time.perf_counter() - began) * 1000, 3))
    return text


def _arguments(call: Call) -> Any:
    """The arguments as a value; a model that needs none may send nothing at all."""
    arguments = call.arguments
    if not isinstance(arguments, str):
        return arguments
    try:
        return msgspec.json.decode(arguments) if arguments.strip() else {}
    except (*REFUSALS, UnicodeEncodeError) as error:
        raise ValueError(f"the arguments are not JSON: {error}") from error


def check_sync(tools: dict[str, Tool]) -> None:
    """Refuse what cannot work: async tools need an event loop, and the one that is running waits for us."""
    names = [tool.name for tool in tools.values() if tool.is_async]
    if not names:
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise AgentError(f"{names[0]} is async and evaluate() would block its event loop; await aevaluate() instead")


def drive(steps: Steps, ask: Callable[[Ask], Any]) -> Response:
    """Run a loop in this thread; an async tool gets its own event loop."""

    def do(step: Ask | Use) -> Any:
        if isinstance(step, Ask):
            return ask(step)
        value = step.tool.function(**step.arguments)
        return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value

    try:
        step = next(steps)
        while True:
            try:
                outcome = do(step)
            except BaseException as error:  # noqa: BLE001  # the loop records it and raises it, or sends it to the model
                step = steps.throw(error)
            else:
                step = steps.send(outcome)
    except StopIteration as end:
        response: Response = end.value
        return response


async def adrive(steps: Steps, ask: Callable[[Ask], Awaitable[Any]]) -> Response:
    """Run a loop in an event loop; a tool that is not async runs in a thread, so that it does not block the loop."""

    async def do(step: Ask | Use) -> Any:
        if isinstance(step, Ask):
            return await ask(step)
        if step.tool.is_async:
            return await step.tool.function(**step.arguments)
        value = await asyncio.to_thread(_contained, step)
        return await value if inspect.isawaitable(value) else value

    try:
        step = next(steps)
        while True:
            try:
                outcome = await do(step)
            except BaseException as error:  # noqa: BLE001  # as above
                step = steps.throw(error)
            else:
                step = steps.send(outcome)
    except StopIteration as end:
        response: Response = end.value
        return response


def _contained(use: Use) -> Any:
    """Call a tool in a thread; an asyncio future cannot hold a StopIteration and would wait forever."""
    try:
        return use.tool.function(**use.arguments)
    except StopIteration as error:
        raise RuntimeError("the tool raised StopIteration") from error


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value
