"""CodexTranscriptEmitter: the messages of a connection to `codex app-server`, as a transcript.

Nothing is mapped here. Every message goes through the format `codex_app_server`, and its events to a `Capture`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stenograph.adapters.capture import Capture
from stenograph.adapters.codex_app_server.wire import Direction, WireLog, WireMessage, wire_message, wrapped
from stenograph.adapters.outputs import Outputs, Target
from stenograph.after_fork import reset_after_fork
from stenograph.clock import utc_now
from stenograph.formats.base import Context
from stenograph.formats.codex_app_server.parser import CodexAppServerFormat
from stenograph.guard import Guard
from stenograph.journal.recorder import Mask
from stenograph.logs.formatter import as_json
from stenograph.model.event import Event
from stenograph.session import Session
from stenograph.text_transcripts import ThreadTranscripts
from stenograph.transcript import TranscriptSummary

ADAPTER = "codex_app_server"


class CodexTranscriptEmitter:
    """Records one connection for the owner of its client. Thread-safe; never raises.

    The client runs dynamic tools, so their calls count as seen by us: report each with `on_tool_call` before and
    `on_tool_result` after. What the server reports about the same call then adds nothing.
    """

    def __init__(
        self,
        *,
        prompt_name: str,
        session_id: str | None = None,
        logger: logging.Logger | None = None,
        emit_raw: bool = True,
        recorder: Target | None = None,
        session: Session | None = None,
        log: bool = True,
        mask: Mask | None = None,
        wire_log: str | Path | None = None,
        text_transcripts: ThreadTranscripts | None = None,
    ) -> None:
        """`session_id` is for events outside a thread; the others have their thread's id.

        Entries go to `session`, if any. `wire_log` is a file that also gets every message.
        """
        outputs = Outputs(
            recorder=recorder,
            session=session,
            session_id=session_id,
            logger=logger,
            log=log,
            emit_raw=emit_raw,
            mask=mask,
            text_transcripts=text_transcripts,
        )
        self._capture = Capture(prompt_name=prompt_name, adapter=ADAPTER, outputs=outputs)
        context = Context(
            run_id=self._capture.run_id,
            session_id=self._capture.session_id,
            prompt_name=prompt_name,
            file=self._capture.wire,
            at=utc_now(),
            keep_raw=True,
        )
        self._parser = CodexAppServerFormat(context, owns_tools=True)
        self._guard = Guard(f"transcript of {prompt_name!r}")
        self._wire_log = None if wire_log is None else self._guard.call("the wire log", WireLog, wire_log)
        self._asked: set[str] = set()
        self._lines = 0
        self._is_stopped = False
        self._lock = threading.RLock()  # protects everything above, and keeps messages in their order
        reset_after_fork(self)
        self.process = 0
        """The id of the server process, for recordings of more than one."""

    @property
    def lost(self) -> int:
        """The number of things that could not be recorded; the log says why."""
        return self._capture.lost + self._guard.lost

    @property
    def summary(self) -> TranscriptSummary:
        """The entries so far, in numbers."""
        return self._capture.summary

    @property
    def run_id(self) -> str:
        """The run of the first thread; other threads are runs of their own."""
        return self._capture.run_id

    def _after_fork(self) -> None:
        self._lock = threading.RLock()

    def start(self, **context: Any) -> None:
        """Log `transcript.start`."""
        self._capture.start(**context)

    def stop(self, **context: Any) -> TranscriptSummary:
        """Record what was never finished, and log `transcript.stop` with the summary. A second call does nothing."""
        with self._lock:
            if self._is_stopped:
                return self.summary
            self._is_stopped = True
            self._guard.call("the end of a message", lambda: self._capture.events(self._parser.finish()))
            if self._wire_log is not None:
                self._guard.attempt("the wire log", self._wire_log.close)
                self._wire_log = None
            if self._guard.lost:
                context["messages_lost"] = self._guard.lost
        return self._capture.stop(**context)

    def error(self, message: str, **context: Any) -> None:
        """Log `transcript.error`, a WARNING."""
        self._capture.error(message, **context)

    def on_notification(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """The server sent a notification."""
        message = {"method": method, "params": {} if params is None else params}
        self._guard.call("a notification", self._say, "in", message)

    def on_user_message(self, text: str, thread_id: str | None = None) -> None:
        """The client is about to request a turn with this prompt, by default in the thread named last."""
        params: dict[str, Any] = {} if thread_id is None else {"threadId": thread_id}
        message = {"method": "turn/start", "params": {**params, "input": [{"type": "text", "text": text}]}}
        self._guard.call("a prompt", self._say, "out", message)

    def on_tool_call(self, params: Mapping[str, Any]) -> None:
        """The server asks the client to run a tool (`item/tool/call`)."""
        self._guard.call("a tool call", self._ask, params)

    def on_tool_result(self, params: Mapping[str, Any], result: Any) -> None:
        """The client answers that request: with the protocol's result, or with the exception of the tool."""
        self._guard.call("a tool result", self._answer, params, result)

    def on_exit(self, returncode: int | None, error: str | None = None, stderr: str | None = None) -> None:
        """The server process ended; an `error` entry when it should not have."""
        facts = {"returncode": returncode, "error": error, "stderr": stderr}
        message = {key: value for key, value in facts.items() if value is not None or key == "returncode"}
        self._guard.call("the end of the server", self._say, "exit", message)

    def on_line(self, direction: Direction, line: bytes) -> list[Event]:
        """Record a line of the connection, without its newline; returns its events."""
        return self.on_message(wire_message(direction, line))

    def on_message(self, message: WireMessage) -> list[Event]:
        """Record a decoded line of the connection; returns its events."""
        return self._guard.call("a message", self._take, message) or []

    def _ask(self, params: Mapping[str, Any]) -> None:
        key = _key(params)
        with self._lock:
            self._asked.add(key)
            self._say("in", {"id": key, "method": "item/tool/call", "params": params})

    def _answer(self, params: Mapping[str, Any], result: Any) -> None:
        key = _key(params)
        with self._lock:
            if key not in self._asked:
                self._ask(params)
            self._asked.discard(key)
            failed = isinstance(result, BaseException)
            answer = {"error": {"code": -32603, "message": str(result)}} if failed else {"result": result}
            self._say("out", {"id": key, **answer})

    def _say(self, direction: Direction, message: dict[str, Any]) -> None:
        self._take(wire_message(direction, as_json(message).encode()))

    def _take(self, message: WireMessage) -> list[Event]:
        with self._lock:
            seconds = round(time.time(), 6)
            self._lines += 1
            if message.line and not message.is_json:
                what = f"line {self._lines} of the connection is not JSON; it is kept as an entry of type unknown"
                self._capture.error(what, path=f"codex app-server ({message.direction})", line=self._lines)
            if self._wire_log is not None:
                kept = wrapped(message, seconds, self.process)
                self._guard.call("a line of the wire log", self._wire_log.append, kept)
            events = self._events_of(message, seconds)
            self._capture.events(events)
            return events

    def _events_of(self, message: WireMessage, seconds: float) -> list[Event]:
        if not message.is_json:
            return self._parser.feed(message.line + b"\n")
        return self._parser.feed_message(
            message.value,
            line=message.line,
            direction=message.direction,
            seconds=seconds,
            process=self.process,
            replaced=message.replaced,
        )


def _key(params: Mapping[str, Any]) -> str:
    return f"{params.get('threadId', '')}:{params.get('callId', '')}"
