"""A fake model's HTTP server on 127.0.0.1: takes a request's JSON, gives JSON or a stream of server-sent events."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Refusal(dict[str, Any]):
    """A JSON document that says why a request is refused, with the status that goes with it."""

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        super().__init__(document)
        self.status = status


Reply = dict[str, Any] | Iterable[dict[str, Any] | float]
"""A JSON document, or the events of a stream; a number among them is a pause in seconds."""


@contextlib.contextmanager
def serving(reply: Callable[[str, dict[str, Any]], Reply]) -> Iterator[str]:
    """Answers POST requests with `reply(path, body)` on a free port, one at a time; gives the server's address."""

    class Handler(_Handler):
        answer = staticmethod(reply)
        one_at_a_time = threading.Lock()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answer: Callable[[str, dict[str, Any]], Reply]
    one_at_a_time: threading.Lock
    """Agents ask several things at once, and the models count their answers."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""

    def do_HEAD(self) -> None:
        self._give(200, {})

    def do_GET(self) -> None:
        if self.path.endswith("/models") and (names := getattr(self.answer, "models", ())):
            self._give(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in names]})
            return
        # A request to upgrade to a websocket is refused like everything else: the agents then take the plain way.
        self._give(426 if self.headers.get("upgrade") else 404, {"error": {"message": "not here"}})

    def do_POST(self) -> None:
        body = json.loads(self._body() or b"{}")
        with self.one_at_a_time:
            reply = self.answer(self.path.partition("?")[0], body)
        with contextlib.suppress(ConnectionError):  # the agent is gone: killed, or done with us
            if isinstance(reply, dict):
                self._give(reply.status if isinstance(reply, Refusal) else 200, reply)
            else:
                self._stream(reply)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _give(self, status: int, document: dict[str, Any]) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Iterable[dict[str, Any] | float]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events:
            if isinstance(event, dict):
                name = f"event: {event['type']}\n" if "type" in event else ""  # Gemini's events have none
                self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
            else:
                time.sleep(event)
