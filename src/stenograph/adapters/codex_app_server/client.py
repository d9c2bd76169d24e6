"""The client's side of the protocol: requests with their answers, notifications, and requests of the server.

Everything happens in the thread that calls `pump`. Other threads give it work with `post`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Protocol

import msgspec

from stenograph.adapters.codex_app_server.process import ServerProcess
from stenograph.adapters.codex_app_server.wire import WireMessage, wire_message
from stenograph.errors import AgentError, AgentTimeout
from stenograph.jsonable import jsonable
from stenograph.model import mend

_encode = msgspec.json.Encoder().encode
NO_SUCH_METHOD = -32601


class Peer(Protocol):
    """The owner of the client."""

    def on_message(self, message: WireMessage) -> object:
        """A line of the connection; called before it is sent or acted upon."""

    def on_notification(self, method: str, params: dict[str, Any]) -> None:
        """The server sent a notification."""

    def on_request(self, id: Any, method: str, params: dict[str, Any]) -> None:
        """The server sent a request, which `reply` or `refuse` must answer."""


class Gone(AgentError):
    """The server ended, or closed its stdout, before it should."""


class AppServerClient:
    """The connection to one server process. For one thread, except `post`."""

    def __init__(self, process: ServerProcess, peer: Peer) -> None:
        self._process = process
        self._peer = peer
        self._number = 0
        self._answers: dict[str, dict[str, Any] | None] = {}
        """By id: None while a request waits for its answer."""
        self._posted: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def post(self, act: Callable[[], None]) -> None:
        """Let the pumping thread do something soon. From any thread."""
        self._posted.put(act)
        self._process.wake()

    def call(self, method: str, params: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a request, and pump until the answer has come."""
        key = self.ask(method, params)
        until = time.monotonic() + timeout
        while (answer := self._answers[key]) is None:
            left = until - time.monotonic()
            if left <= 0:
                raise AgentTimeout(f"codex did not answer to {method} within {timeout:g} s; see startup_timeout")
            self.pump(left)
        del self._answers[key]
        if "error" in answer:
            raise AgentError(f"codex refused {method}: {_message(answer['error'])}")
        result = answer.get("result")
        return result if isinstance(result, dict) else {}

    def ask(self, method: str, params: dict[str, Any]) -> str:
        """Send a request without waiting; returns its id."""
        self._number += 1
        key = f"steno-{self._number}"  # the server numbers its own requests from 0; ours must not look like those
        self._answers[key] = None
        self._send({"id": key, "method": method, "params": params})
        return key

    def notify(self, method: str) -> None:
        """Send a notification."""
        self._send({"method": method})

    def reply(self, id: Any, result: dict[str, Any]) -> None:
        """Answer a request of the server."""
        self._send({"id": id, "result": result})

    def refuse(self, id: Any, code: int, message: str) -> None:
        """Answer a request of the server with an error."""
        self._send({"id": id, "error": {"code": code, "message": message}})

    def pump(self, timeout: float | None) -> None:
        """Do what was posted and take at most one line, waiting for one or the other; raises `Gone` at the end."""
        while True:
            try:
                act = self._posted.get_nowait()
            except Empty:
                break
            act()
        line = self._process.receive(timeout)
        if line is not None:
            self._take(line)
        elif self._process.is_over:
            raise Gone("codex app-server ended before its work did")

    def drain(self, patience: float) -> None:
        """Close the connection, and read what the server still sends until it ends."""
        self._process.hang_up()
        until = time.monotonic() + patience
        while (left := until - time.monotonic()) > 0:
            line = self._process.receive(left)
            if line is not None:
                self._peer.on_message(wire_message("in", line))
            elif self._process.is_over:
                return

    def _send(self, message: dict[str, Any]) -> None:
        try:
            line = _encode(message)
        except Exception:  # noqa: BLE001  # settings and approvals may hold anything; JSON-RPC only JSON
            line = _encode(mend.scrub(jsonable(message))[0])
        self._peer.on_message(wire_message("out", line))
        self._process.send(line + b"\n")

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        received = wire_message("in", line)
        self._peer.on_message(received)
        message = received.value if isinstance(received.value, dict) else {}  # the transcript shows any other line
        method, params, key = message.get("method"), message.get("params"), message.get("id")
        params = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            if isinstance(key, str) and key in self._answers:
                self._answers[key] = message
        elif key is None:
            self._peer.on_notification(method, params)
        else:
            self._peer.on_request(key, method, params)


def _message(error: Any) -> str:
    found = error.get("message") if isinstance(error, dict) else error
    return found if isinstance(found, str) and found else "it does not say why"
