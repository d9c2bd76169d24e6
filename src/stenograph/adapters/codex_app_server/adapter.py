"""CodexAppServerAdapter: asks Codex over `codex app-server`, and records everything."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Awaitable
from typing import Any

from stenograph.adapters.codex_app_server.client import Gone
from stenograph.adapters.codex_app_server.config import CodexAppServerClientConfig
from stenograph.adapters.codex_app_server.emitter import CodexTranscriptEmitter
from stenograph.adapters.codex_app_server.process import LineTooLong, ServerProcess
from stenograph.adapters.codex_app_server.session_events import SessionEvents
from stenograph.adapters.codex_app_server.turn import Turn
from stenograph.adapters.outputs import Target
from stenograph.adapters.prompt import Prompt, Response, prompt_of
from stenograph.adapters.tool import tools_of
from stenograph.errors import AgentError, AgentTimeout
from stenograph.session import Session

_PATIENCE = 5.0
"""Seconds that the server has to end after its work."""


class CodexAppServerAdapter:
    """Evaluates prompts, each with its own server process. Thread-safe."""

    def __init__(
        self, client_config: CodexAppServerClientConfig | None = None, *, logger: logging.Logger | None = None
    ) -> None:
        """`logger` gets the transcript; by default `stenograph.adapters.codex_app_server`."""
        self.client_config = client_config or CodexAppServerClientConfig()
        self._logger = logger
        self._running: set[_Evaluation] = set()
        self._lock = threading.Lock()  # protects the set of what is running

    def evaluate(
        self,
        prompt: Prompt | str,
        session: Session | None = None,
        recorder: Target | None = None,
        *,
        thread_id: str | None = None,
    ) -> Response:
        """Ask, and wait for the answer; `thread_id` continues an earlier thread.

        Raises `AgentError` when Codex cannot be run, fails or is interrupted, `AgentTimeout` when it takes too long.
        Tools and approvals run in separate threads; their coroutines get an event loop there.
        """
        return self._run(_Evaluation(self.client_config, prompt, session, recorder, thread_id, self._logger, None))

    async def aevaluate(
        self,
        prompt: Prompt | str,
        session: Session | None = None,
        recorder: Target | None = None,
        *,
        thread_id: str | None = None,
    ) -> Response:
        """`evaluate` without blocking the event loop, in which async tools then run. Cancelling interrupts the turn."""
        loop = asyncio.get_running_loop()
        evaluation = _Evaluation(self.client_config, prompt, session, recorder, thread_id, self._logger, loop)
        work = asyncio.ensure_future(asyncio.to_thread(self._run, evaluation))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            evaluation.interrupt()
            await asyncio.wait([work])
            if not work.cancelled():
                work.exception()  # its result is not needed any more
            raise

    def interrupt(self) -> None:
        """End every turn that runs now; each `evaluate` then raises `AgentError`. From any thread."""
        with self._lock:
            running = list(self._running)
        for evaluation in running:
            evaluation.interrupt()

    def _run(self, evaluation: _Evaluation) -> Response:
        with self._lock:
            self._running.add(evaluation)
        try:
            return evaluation.run()
        finally:
            with self._lock:
                self._running.discard(evaluation)


class _Evaluation:
    """One evaluation of a prompt."""

    def __init__(
        self,
        config: CodexAppServerClientConfig,
        prompt: Prompt | str,
        session: Session | None,
        recorder: Target | None,
        thread_id: str | None,
        logger: logging.Logger | None,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self._config = config
        self._prompt = prompt_of(prompt)
        self._tools = tools_of(self._prompt.tools)
        self._thread_id = thread_id
        self._loop = loop
        self._futures: set[concurrent.futures.Future[Any]] = set()
        """Coroutines of the user's that run in their loop for us."""
        self._is_over = False
        self._is_recorded = recorder is not None
        self._session_events = SessionEvents(self._prompt, session)
        self._emitter = CodexTranscriptEmitter(
            prompt_name=self._prompt.name,
            session_id=None if session is None else str(session.session_id),
            logger=logger,
            emit_raw=config.transcript_emit_raw,
            recorder=recorder,
            session=session if config.capture_transcript else None,
            log=config.transcript_emission,
            wire_log=config.wire_log,
            text_transcripts=config.text_transcripts,
        )
        self._turn: Turn | None = None
        self._is_interrupted = False
        self._lock = threading.Lock()  # protects the two above

    def interrupt(self) -> None:
        with self._lock:
            self._is_interrupted = True
            turn = self._turn
        if turn is not None:
            turn.interrupt()

    def run(self) -> Response:
        self._emitter.start()
        self._session_events.rendered()
        text = ""
        failure: str | None = None
        try:
            text = self._talk()
        except BaseException as error:
            failure = str(error) or type(error).__name__
            raise
        finally:
            self._cancel_tools()
            self._session_events.executed(text, failure)
            facts = {"error": failure, "session_events_lost": self._session_events.lost}
            self._emitter.stop(**{key: value for key, value in facts.items() if value})
        assert self._turn is not None
        return Response(
            prompt_name=self._prompt.name,
            text=text,
            session_id=self._turn.thread_id,
            run_id=self._emitter.run_id if self._is_recorded else None,
            usage=self._session_events.usage,
        )

    def _talk(self) -> str:
        config = self._config
        try:
            process = ServerProcess(
                [config.codex_bin, "app-server", *config.args],
                cwd=config.cwd,
                env=config.env,
                passes_stderr=not config.suppress_stderr,
            )
        except AgentError as error:
            self._emitter.on_exit(None, str(error))
            raise
        self._emitter.process = process.pid
        why: str | None = "the evaluation was abandoned"
        turn = self._begin(process)
        try:
            turn.run(self._thread_id)
            why = None
        except Gone as error:
            code = process.end()
            why = f"codex app-server ended with code {code} before the turn did"
            raise AgentError(f"{why}{_last_words(process)}") from error
        except (AgentTimeout, LineTooLong) as error:
            why = str(error)
            raise
        except AgentError:
            why = None  # the server said it itself
            raise
        finally:
            self._hang_up(process, turn, why)
        return turn.text

    def _begin(self, process: ServerProcess) -> Turn:
        turn = Turn(
            self._config,
            self._prompt,
            tools=self._tools,
            wait=self._wait,
            emitter=self._emitter,
            session_events=self._session_events,
            process=process,
        )
        with self._lock:
            self._turn = turn
            is_late = self._is_interrupted
        if is_late:
            turn.interrupt()
        return turn

    def _hang_up(self, process: ServerProcess, turn: Turn, why: str | None) -> None:
        try:
            if why is None:
                turn.drain(_PATIENCE)
        finally:
            code = process.end()
            stderr = process.stderr_tail if why is not None else ""
            self._emitter.on_exit(code, why, stderr or None)

    def _wait(self, awaitable: Awaitable[Any]) -> Any:
        """The result of the user's coroutine, for one of our threads."""

        async def waiting() -> Any:
            return await awaitable

        if self._loop is None:
            return asyncio.run(waiting())
        future = asyncio.run_coroutine_threadsafe(waiting(), self._loop)
        self._futures.add(future)
        if self._is_over:
            future.cancel()
        try:
            return future.result()
        finally:
            self._futures.discard(future)

    def _cancel_tools(self) -> None:
        """Cancel them: their results are not needed. One that starts later sees the flag."""
        self._is_over = True
        for future in list(self._futures):
            future.cancel()


def _last_words(process: ServerProcess) -> str:
    tail = process.stderr_tail[-500:].strip()
    return f"; it said: {tail}" if tail else "; it said nothing on stderr"
