"""A collector of OTLP on loopback, for tests: what it was sent, by the ids of spans, and as often as it came."""

from __future__ import annotations

import gzip
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from stenograph.formats.otlp.protobuf import Signal, request_in


@dataclass
class Collecting:
    """What a collector was sent."""

    url: str = ""
    spans: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By their ids; a later one replaces an earlier one."""
    came: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Every span, as often as it came."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each request that was taken."""
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    """Status, headers and body of the answers to come; without one, 200."""
    most_spans: int = 1 << 30
    """More than these in one request are too many: 413."""
    refused: set[str] = field(default_factory=set)
    """Names of spans that make a request malformed: 400."""
    is_silent: bool = False
    """Whether it never answers."""
    released: threading.Event = field(default_factory=threading.Event)
    at_work: int = 0
    """Connections that were accepted and are not done."""
    changed: threading.Condition = field(default_factory=threading.Condition)
    """Protects `at_work`."""

    def wait_until_idle(self) -> None:
        """Until all is taken that was sent so far, also by senders that are gone."""
        urllib.request.urlopen(self.url).close()  # connections are accepted in their order, so all others were
        with self.changed:
            self.changed.wait_for(lambda: not self.at_work)

    @property
    def names(self) -> list[str]:
        """The names of what came, in order."""
        return [span["name"] for _, span in self.came]

    def answer(self, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Take a request."""
        if self.is_silent:
            self.released.wait()
        if self.answers:
            answer = self.answers.pop(0)
            if answer[0] != 200:
                return answer
        else:
            answer = (200, {}, b"")
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        (resource,) = request_in(body, Signal.TRACES)["resourceSpans"]
        spans = resource["scopeSpans"][0]["spans"]
        if len(spans) > self.most_spans:
            return 413, {}, b""
        if any(span["name"] in self.refused for span in spans):
            return 400, {}, b""
        self.headers.append(headers)
        for span in spans:
            self.came.append((span["spanId"], span))
            self.spans[span["spanId"]] = span
        return answer


@contextmanager
def collector() -> Iterator[Collecting]:
    """A collector that listens until the end of the `with`."""
    taken = Collecting()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(204)
            self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told = {name.lower(): value for name, value in self.headers.items()} | {"path": self.path}
            status, headers, answer = taken.answer(told, body)
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(answer))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def process_request(self, *connection: Any) -> None:
            with taken.changed:
                taken.at_work += 1
            super().process_request(*connection)

        def shutdown_request(self, *connection: Any) -> None:
            super().shutdown_request(*connection)
            with taken.changed:
                taken.at_work -= 1
                taken.changed.notify_all()

        def handle_error(self, *_: object) -> None:
            """A sender may be gone before its answer."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        taken.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield taken
        finally:
            taken.released.set()
            server.shutdown()
            thread.join()
