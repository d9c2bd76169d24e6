"""ClaudeAgentSDKAdapter: asks Claude through its SDK, while a collector records Claude's own session files."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from typing import Any, cast

from stenograph.adapters.claude_agent_sdk.bridge import SERVER, server_of, tool_names
from stenograph.adapters.claude_agent_sdk.collector import TranscriptCollector
from stenograph.adapters.claude_agent_sdk.config import ClaudeAgentSDKClientConfig
from stenograph.adapters.claude_agent_sdk.conversation import Conversation
from stenograph.adapters.outputs import Target
from stenograph.adapters.prompt import Prompt, Response, prompt_of
from stenograph.adapters.tool import tools_of
from stenograph.errors import AgentError, AgentTimeout, MissingExtra
from stenograph.guard import Guard
from stenograph.journal.recorder import Recorder
from stenograph.journal.tool_call import error_text
from stenograph.session import PromptExecuted, PromptRendered, Session, ToolInvoked
from stenograph.transcript import TranscriptEntry

ADAPTER = "claude_agent_sdk"
_PATIENCE = 5.0
"""Seconds that Claude has to stop after an interrupt, or to continue after a background task has ended."""


class ClaudeAgentSDKAdapter:
    """Evaluates prompts, each with its own Claude process. Thread-safe."""

    def __init__(
        self, client_config: ClaudeAgentSDKClientConfig | None = None, *, logger: logging.Logger | None = None
    ) -> None:
        """`logger` gets the transcript; by default `stenograph.adapters.claude_agent_sdk`."""
        self.client_config = client_config or ClaudeAgentSDKClientConfig()
        self._logger = logger

    def evaluate(
        self, prompt: Prompt | str, session: Session | None = None, recorder: Target | None = None
    ) -> Response:
        """Ask, and wait for the answer, including that of subagents in the background.

        Raises `AgentError` when Claude cannot be run or fails, `AgentTimeout` when it takes too long. Called where an
        event loop runs, it blocks that loop; use `aevaluate` there.
        """
        return _in_thread(self.aevaluate(prompt, session, recorder))

    async def aevaluate(
        self, prompt: Prompt | str, session: Session | None = None, recorder: Target | None = None
    ) -> Response:
        """`evaluate` in an event loop. Cancelling it interrupts Claude."""
        return await _Evaluation(self.client_config, prompt_of(prompt), session, recorder, self._logger).run()


class _Evaluation:
    """One evaluation of a prompt."""

    def __init__(
        self,
        config: ClaudeAgentSDKClientConfig,
        prompt: Prompt,
        session: Session | None,
        recorder: Target | None,
        logger: logging.Logger | None,
    ) -> None:
        self._sdk = _sdk()
        self._config = config
        self._prompt = prompt
        self._session = session
        self._recorder = recorder
        self._guard = Guard(f"session events of {prompt.name!r}")
        self._conversation = Conversation(lambda facts: self._dispatch(ToolInvoked, **facts))
        self._collector: TranscriptCollector | None = None
        if config.transcript_collection is not None:
            self._collector = TranscriptCollector(
                prompt_name=prompt.name,
                config=config.transcript_collection,
                recorder=recorder,
                session=self._entries_to(),
                logger=logger or logging.getLogger(f"stenograph.adapters.{ADAPTER}"),
                adapter=ADAPTER,
                text_transcripts=config.text_transcripts,
            )
        self._options = self._configured()

    async def run(self) -> Response:
        self._dispatch(PromptRendered, system=self._prompt.system, user=self._prompt.text)
        began = time.monotonic()
        failure: BaseException | None = None
        try:
            await self._collected()
        except BaseException as error:
            failure = error
            raise
        finally:
            self._dispatch(
                PromptExecuted,
                text=self._conversation.text if failure is None else "",
                usage=self._conversation.usage or None,
                error=None if failure is None else str(failure) or error_text(failure),
                duration_ms=round((time.monotonic() - began) * 1000, 3),
            )
        return Response(
            prompt_name=self._prompt.name,
            text=self._conversation.text,
            session_id=self._conversation.session_id,
            run_id=self._run_id(),
            usage=self._conversation.usage,
        )

    async def _collected(self) -> None:
        """Talk to Claude, and record its session files until they are quiet."""
        async with AsyncExitStack() as stack:
            if self._collector is not None:
                await stack.enter_async_context(self._collector.run())
            try:
                async with asyncio.timeout(self._config.timeout):
                    await self._talk()
            except TimeoutError as error:
                raise self._failed(
                    AgentTimeout(f"Claude took longer than {self._config.timeout} s; see timeout"), "timeout"
                ) from error
            except self._sdk.CLINotFoundError as error:
                why = f"Claude Code was not found ({error}); install it, or name it by `cli_path` in the options"
                raise self._failed(AgentError(why), "exit") from error
            except self._sdk.ClaudeSDKError as error:
                raise self._failed(AgentError(f"Claude cannot be run: {error}"), "exit") from error

    def _failed(self, failure: AgentError, code: str) -> AgentError:
        """The failure, also recorded as an `error`, since Claude itself could not."""
        if self._collector is not None:
            self._collector.fail(str(failure), code)
        return failure

    async def _talk(self) -> None:
        async with self._sdk.ClaudeSDKClient(options=self._options) as client:
            try:
                await client.query(self._prompt.text)
                await self._listen(client.receive_messages())
            except asyncio.CancelledError:
                # Interrupted, Claude still writes down what it has; killed, it does not.
                with suppress(Exception):
                    await asyncio.wait_for(asyncio.shield(client.interrupt()), _PATIENCE)
                raise

    async def _listen(self, messages: AsyncIterator[Any]) -> None:
        conversation = self._conversation
        while not conversation.is_over:
            try:
                message = await asyncio.wait_for(anext(messages), _PATIENCE if conversation.is_due else None)
            except StopAsyncIteration:
                failure = AgentError("Claude ended without an answer; its stderr may say why")
                raise self._failed(failure, "exit") from None
            except TimeoutError:
                return  # it has nothing to add to its answer
            conversation.add(message)

    def _configured(self) -> Any:
        """The SDK's options: the user's, changed by the config, the prompt and the collector."""
        config, prompt = self._config, self._prompt
        options = config.options if config.options is not None else self._sdk.ClaudeAgentOptions()
        tools = tools_of(prompt.tools)
        changes: dict[str, Any] = {
            "model": config.model,
            "cwd": config.cwd,
            "permission_mode": config.permission_mode,
            "max_turns": config.max_turns,
            "system_prompt": prompt.system,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        changes["allowed_tools"] = [*options.allowed_tools, *config.allowed_tools, *tool_names(tools)]
        changes["env"] = {**options.env, **(config.env or {})}
        if tools:
            servers = options.mcp_servers
            if not isinstance(servers, dict):
                raise AgentError("options.mcp_servers is a file; give a dict of servers for a prompt that has tools")
            changes["mcp_servers"] = {**servers, SERVER: server_of(self._sdk, tools)}
        hooks: dict[Any, list[Any]] = {name: list(matchers) for name, matchers in (options.hooks or {}).items()}
        for name, matchers in (config.hooks or {}).items():
            hooks.setdefault(name, []).extend(matchers)
        changes["hooks"] = hooks if self._collector is None else self._collector.hooks_config(hooks)
        return dataclasses.replace(options, **changes)

    def _entries_to(self) -> Session | None:
        """Who gets the entries."""
        if self._session is None or not self._config.capture_transcript:
            return None
        if self._config.capture_subagent_transcripts:
            return self._session
        return cast(Session, _MainEntries(self._session))

    def _run_id(self) -> str | None:
        if self._recorder is None or self._collector is None:
            return None
        return self._recorder.run_id if isinstance(self._recorder, Recorder) else self._recorder.run.run_id

    def _dispatch(self, kind: type[Any], **facts: Any) -> None:
        session = self._session
        if session is None:
            return
        common = {"prompt_name": self._prompt.name, "adapter": ADAPTER, "session_id": session.session_id}
        now = datetime.now(UTC)
        self._guard.call("a session event", lambda: session.dispatch(kind(**common, created_at=now, **facts)))


def _in_thread(evaluation: Coroutine[Any, Any, Response]) -> Response:
    """Run it in a loop of its own: this thread may have one, and only one runs in a thread."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(evaluation)
    done = threading.Event()  # not `join`, which may not be called again after Ctrl-C
    threading.Thread(target=_run, args=(loop, task, done), name="stenograph-claude").start()
    try:
        done.wait()
    except BaseException:  # Ctrl-C: it is for Claude, too
        loop.call_soon_threadsafe(task.cancel)
        done.wait()
        raise
    return task.result()


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Response], done: threading.Event) -> None:
    try:
        with suppress(BaseException):  # the task keeps it for its result
            loop.run_until_complete(task)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        done.set()


class _MainEntries:
    """Passes only the main agent's entries to a session."""

    def __init__(self, session: Session) -> None:
        self.session_id = session.session_id
        self._session = session

    def dispatch(self, value: object) -> None:
        if not isinstance(value, TranscriptEntry) or value.source == "main":
            self._session.dispatch(value)


def _sdk() -> Any:
    try:
        import claude_agent_sdk
    except ImportError as error:
        raise MissingExtra("claude-agent-sdk", "claude") from error
    return claude_agent_sdk
