"""One turn on one connection: the handshake, the thread, the prompt, and every answer that Codex needs meanwhile."""

from __future__ import annotations

import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stenograph.adapters.codex_app_server import approval, bridge
from stenograph.adapters.codex_app_server.client import NO_SUCH_METHOD, AppServerClient, Gone
from stenograph.adapters.codex_app_server.config import ApprovalRequest, CodexAppServerClientConfig
from stenograph.adapters.codex_app_server.emitter import CodexTranscriptEmitter
from stenograph.adapters.codex_app_server.process import ServerProcess
from stenograph.adapters.codex_app_server.session_events import SessionEvents
from stenograph.adapters.codex_app_server.wire import WireMessage
from stenograph.adapters.prompt import Prompt
from stenograph.adapters.tool import Tool
from stenograph.errors import AgentError, AgentTimeout
from stenograph.version import __version__

_INTERRUPT_GRACE = 10.0
"""Seconds that an interrupted turn has to end."""


class Turn:
    """Asks for one turn, and answers to the server until it is over. For one thread, `interrupt` aside."""

    def __init__(
        self,
        config: CodexAppServerClientConfig,
        prompt: Prompt,
        *,
        tools: Mapping[str, Tool],
        wait: bridge.Await,
        emitter: CodexTranscriptEmitter,
        session_events: SessionEvents,
        process: ServerProcess,
    ) -> None:
        self._config = config
        self._prompt = prompt
        self._tools = tools
        self._wait = wait
        self._emitter = emitter
        self._session_events = session_events
        self._client = AppServerClient(process, self)
        self.thread_id: str | None = None
        self.text = ""
        """The last message of the agent so far."""
        self._turn_id: str | None = None
        self._ended: dict[str, Any] | None = None
        """The turn as its end describes it."""
        self._must_stop = False
        self._has_stopped = False

    def run(self, thread_id: str | None) -> None:
        """Run to the end of the turn; raises `AgentError` if it fails or is interrupted."""
        self._shake_hands()
        self.thread_id = self._thread(thread_id)
        if self._must_stop:
            raise self._interrupted()
        started = self._client.call("turn/start", self._turn_params(), self._config.startup_timeout)
        self._turn_id = self._turn_id or _id(started.get("turn"))
        self._stop_if_asked()
        self._wait_for_the_end()
        turn = self._ended or {}
        if turn.get("status") == "failed":
            error = turn.get("error")
            why = error.get("message") if isinstance(error, dict) else None
            raise AgentError(f"the turn of prompt {self._prompt.name!r} failed: {why or 'codex does not say why'}")
        if turn.get("status") == "interrupted":
            raise self._interrupted()

    def _interrupted(self) -> AgentError:
        return AgentError(f"the turn of prompt {self._prompt.name!r} was interrupted before it was done")

    def drain(self, patience: float) -> None:
        """Close the connection and read the rest."""
        self._client.drain(patience)

    def interrupt(self) -> None:
        """End the turn as soon as possible. From any thread."""
        self._client.post(self._stop)

    # Callbacks of the client.

    def on_message(self, message: WireMessage) -> None:
        """A line was sent or received."""
        self._session_events.add(self._emitter.on_message(message))

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        """The server sent a notification; threads other than ours are subagents."""
        if params.get("threadId") != self.thread_id:
            return
        turn, item = params.get("turn"), params.get("item")
        if method == "item/completed" and isinstance(item, dict) and item.get("type") == "agentMessage":
            self.text = item["text"] if isinstance(item.get("text"), str) else self.text
        elif method == "turn/started":
            self._turn_id = self._turn_id or _id(turn)
            self._session_events.counts_usage = True
            self._stop_if_asked()
        elif method == "turn/completed" and isinstance(turn, dict) and turn.get("id") in (self._turn_id, None):
            self._ended = turn

    def on_request(self, id: Any, method: str, params: dict[str, Any]) -> None:
        """The server sent a request: a tool call, an approval, or one that we do not know."""
        if method == "item/tool/call":
            self._aside(id, lambda: bridge.run(self._tools, params, self._wait))
        elif method in approval.REQUESTS:
            self._aside(id, lambda: self._approve(ApprovalRequest(method=method, params=params)))
        else:
            self._client.refuse(id, NO_SUCH_METHOD, f"this client does not answer to {method}")

    def _aside(self, id: Any, answer: Callable[[], dict[str, Any]]) -> None:
        """Find the answer in a separate thread, which may take long; the turn can end meanwhile."""
        context = contextvars.copy_context()

        def work() -> None:
            result = context.run(answer)
            self._client.post(lambda: self._client.reply(id, result))

        threading.Thread(target=work, name=f"codex request {id}", daemon=True).start()

    def _approve(self, request: ApprovalRequest) -> dict[str, Any]:
        try:
            decision = approval.decide(self._config.approvals, request)
            return approval.result_of(request, self._wait(decision) if inspect.isawaitable(decision) else decision)
        except Exception as error:  # noqa: BLE001  # the user's function: if it fails, the request is declined
            self._emitter.error(f"approvals failed, so {request.method} was declined: {type(error).__name__}: {error}")
            return approval.result_of(request, "decline")

    # Requests to the server.

    def _shake_hands(self) -> None:
        client = {"name": self._config.client_name, "title": self._config.client_name, "version": __version__}
        params = {"clientInfo": client, "capabilities": {"experimentalApi": True}}  # which dynamic tools are part of
        self._client.call("initialize", params, self._config.startup_timeout)
        self._client.notify("initialized")

    def _thread(self, thread_id: str | None) -> str:
        config = self._config
        params: dict[str, Any] = {
            "cwd": str(Path(config.cwd or ".").resolve()),
            "model": config.model,
            "modelProvider": config.model_provider,
            "approvalPolicy": config.approval_policy,
            "sandbox": config.sandbox_mode,
            "config": config.config,
            "developerInstructions": self._prompt.system,
        }
        params = {name: value for name, value in params.items() if value is not None}
        if thread_id is not None:
            params |= {"threadId": thread_id, "excludeTurns": True}
        elif self._tools:
            params["dynamicTools"] = bridge.dynamic_tools(self._tools)
        method = "thread/start" if thread_id is None else "thread/resume"
        answer = self._client.call(method, params, config.startup_timeout)
        found = _id(answer.get("thread"))
        if found is None:
            raise AgentError(f"codex answered to {method} without a thread; this version of Codex is not understood")
        return found

    def _turn_params(self) -> dict[str, Any]:
        text = [{"type": "text", "text": self._prompt.text}]
        effort = {} if self._config.effort is None else {"effort": self._config.effort}
        return {"threadId": self.thread_id, "input": text, **effort}

    # How it ends.

    def _wait_for_the_end(self) -> None:
        limit = self._config.turn_timeout
        until = None if limit is None else time.monotonic() + limit
        while self._ended is None:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                self._stop()
                with suppress(Gone):  # a server that died after the timeout counts as a timeout
                    self._wait_after_interrupt()
                raise AgentTimeout(
                    f"the turn of prompt {self._prompt.name!r} took longer than {limit:g} s and was interrupted; "
                    "see turn_timeout"
                )
            self._client.pump(left)
            if self._has_stopped and self._ended is None:
                self._wait_after_interrupt()
                return

    def _wait_after_interrupt(self) -> None:
        until = time.monotonic() + _INTERRUPT_GRACE
        while self._ended is None and (left := until - time.monotonic()) > 0:
            self._client.pump(left)
        if self._ended is None:
            raise AgentTimeout(
                f"the turn of prompt {self._prompt.name!r} was interrupted and did not end; codex was killed"
            )

    def _stop(self) -> None:
        self._must_stop = True
        self._stop_if_asked()

    def _stop_if_asked(self) -> None:
        if self._must_stop and not self._has_stopped and self._turn_id is not None:
            self._has_stopped = True
            self._client.ask("turn/interrupt", {"threadId": self.thread_id, "turnId": self._turn_id})


def _id(described: Any) -> str | None:
    found = described.get("id") if isinstance(described, dict) else None
    return found if isinstance(found, str) and found else None
