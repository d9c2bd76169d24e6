"""A server that forwards requests to the real model and records both sides, for a later replay.

The recording is a wire log of the model's API, which the formats of those APIs read. Headers, and with them the
credentials, are not recorded.
"""

from __future__ import annotations

import itertools
import threading
from contextlib import AbstractContextManager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from stenograph.export.wording import json_bytes
from stenograph.replay.http_server import Handler, listening

_PATIENCE = 600.0
"""Seconds that a model may take."""
_RECORDED = ("/messages", "/chat/completions", "/responses")
_OWN_HEADERS = {"host", "content-length", "content-encoding", "connection", "accept-encoding", "transfer-encoding"}
_PIECE = 1 << 16


class Upstreams(Struct, frozen=True, kw_only=True):
    """The addresses of the real models."""

    anthropic: str = "https://api.anthropic.com"
    openai: str = "https://api.openai.com/v1"

    def address(self, path: str) -> str:
        """The address for a request to this path."""
        if "/messages" in path:
            return self.anthropic.rstrip("/") + path
        return self.openai.rstrip("/") + path.removeprefix("/v1")


class WireLog:
    """A recording in progress. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # protects everything below
        self._lines: list[bytes] = []
        self._numbers = itertools.count(1)
        self._api: str | None = None
        self.calls = 0
        """Calls that were recorded completely."""

    def written(self) -> bytes:
        """The recording so far, as JSON lines."""
        with self._lock:
            return b"".join(self._lines)

    def begin(self, path: str, body: bytes) -> str | None:
        """Record a request; returns the number of the call, None for a second API, which one file cannot hold."""
        api = path.rpartition("/")[2]
        with self._lock:
            self._api = self._api or api
            if self._api != api:
                return None
            call = str(next(self._numbers))
            self._write({"kind": "request", "path": path, "call": call, "body": msgspec.Raw(body)})
            return call

    def end(self, path: str, call: str, status: int, body: bytes) -> None:
        """Record the answer."""
        try:
            decoded: Any = msgspec.json.decode(body)
        except ValueError:  # a stream of events, or the page of a proxy
            decoded = body.decode("utf-8", "replace")
        with self._lock:
            self.calls += 1
            self._write({"kind": "response", "path": path, "call": call, "code": status, "body": decoded})

    def _write(self, record: dict[str, Any]) -> None:
        self._lines.append(json_bytes(record) + b"\n")


def recording(log: WireLog, upstreams: Upstreams) -> AbstractContextManager[str]:
    """Forward requests and record them while the block runs; yields the address, without a path."""

    class RecordingHandler(_RecordingHandler):
        wire_log = log
        models = upstreams

    return listening(RecordingHandler)


class _RecordingHandler(Handler):
    wire_log: WireLog
    models: Upstreams

    def get(self) -> None:
        self._pass_on(b"")

    def head(self) -> None:
        self._pass_on(b"")

    def post(self) -> None:
        try:
            body = self.body()
            msgspec.json.decode(body or b"{}")
        except ValueError:
            self.send_json(400, {"error": {"message": "stenograph: the request is not JSON"}})
            return
        if not self.bare_path.endswith(_RECORDED):
            self._pass_on(body)
            return
        call = self.wire_log.begin(self.bare_path, body)
        if call is None:
            self.send_json(400, {"error": {"message": "stenograph: a recording holds one API; make one for each"}})
            return
        self._pass_on(body, call)

    def _pass_on(self, body: bytes, call: str | None = None) -> None:
        address = urlsplit(self.models.address(self.path))
        kind = HTTPSConnection if address.scheme == "https" else HTTPConnection
        connection = kind(address.netloc, timeout=_PATIENCE)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN_HEADERS}
        target = f"{address.path}?{address.query}" if address.query else address.path
        try:
            connection.request(self.command, target, body or None, headers | {"accept-encoding": "identity"})
            reply = connection.getresponse()
        except (OSError, HTTPException) as error:
            self.send_json(502, {"error": {"message": f"stenograph cannot reach {address.netloc}: {error}"}})
            connection.close()
            return
        pieces: list[bytes] = []
        try:
            self.begin_chunks(reply.status, reply.headers.get("content-type", "application/json"))
            while self.command != "HEAD" and (piece := reply.read1(_PIECE)):
                pieces.append(piece)
                self.send_chunk(piece)
            if call is not None:  # before the client sees the end, so that everything that it saw is recorded
                self.wire_log.end(self.bare_path, call, reply.status, b"".join(pieces))
            if self.command != "HEAD":
                self.send_chunk(b"")
        finally:
            connection.close()
