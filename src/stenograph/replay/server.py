"""The HTTP server of a replay, on 127.0.0.1 alone."""

from __future__ import annotations

import contextlib
import gzip
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import zstandard

from stenograph.errors import StoreError
from stenograph.export.wording import json_bytes
from stenograph.replay.session import ReplaySession, Reply

_LARGEST = 512 << 20
"""Bytes of a request that are read."""
_PATIENCE = 60.0
"""Seconds after which a silent connection is given up."""


@contextlib.contextmanager
def serving(session: ReplaySession, port: int = 0) -> Iterator[str]:
    """Serve a replay while the block runs; gives the address, without a path. Port 0 takes one that is free."""

    class Handler(_Handler):
        replay = session

    try:
        server = _Server(("127.0.0.1", port), Handler)
    except OSError as error:
        raise StoreError(f"cannot listen on port {port}: {error.strerror}; choose another with --port") from error
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="steno-replay")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.close_connections()
        server.server_close()  # which waits for the threads of the connections


class _Server(ThreadingHTTPServer):
    """Ends with all its connections and threads."""

    daemon_threads = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._lock = threading.Lock()  # protects the connections
        self._connections: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """End the connections that clients keep open for later."""
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing on stderr but what is ours to mend."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _PATIENCE
    replay: ReplaySession

    def handle(self) -> None:
        """A client may leave at any moment."""
        with contextlib.suppress(ConnectionError, TimeoutError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr: the report says what was asked."""

    def do_HEAD(self) -> None:
        self._note(200)
        self._send(200, {})

    def do_GET(self) -> None:
        """The list of models is empty; a websocket is refused, after which agents take the plain way."""
        document: dict[str, Any]
        if self.headers.get("upgrade"):
            status, document = 426, {"error": {"message": "steno replay has no websockets"}}
        elif self.path.partition("?")[0].endswith("/models"):
            status, document = 200, {"object": "list", "data": [], "has_more": False}
        else:
            status, document = 404, {"error": {"message": "steno replay has nothing here"}}
        self._note(status)
        self._send(status, document)

    def do_POST(self) -> None:
        """A request to a model."""
        try:
            body = msgspec.json.decode(self._unpacked(self._body()) or b"{}")
        except (ValueError, UnicodeDecodeError, EOFError, OSError, zstandard.ZstdError):
            self._note(400)
            self._send(400, {"error": {"message": "steno replay: the request is not JSON"}})
            return
        reply = self.replay.answer(self.path.partition("?")[0], body)
        if reply.events is None:
            self._send(reply.status, reply.document)
        else:
            self._stream(reply)

    def _note(self, status: int) -> None:
        self.replay.other(self.path.partition("?")[0], status)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", "").lower():
            return self.rfile.read(min(int(self.headers.get("content-length") or 0), _LARGEST))
        body = bytearray()
        while size := int(self.rfile.readline().partition(b";")[0].strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _unpacked(self, body: bytes) -> bytes:
        match self.headers.get("content-encoding", ""):
            case "gzip":
                return gzip.decompress(body)
            case "zstd":
                return zstandard.ZstdDecompressor().decompressobj().decompress(body)
        return body

    def _send(self, status: int, document: dict[str, Any]) -> None:
        data = json_bytes(document)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, reply: Reply) -> None:
        assert reply.events is not None
        self.send_response(reply.status)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in reply.events:
            name = b"event: %s\n" % event["type"].encode() if reply.has_names else b""
            self._chunk(b"%sdata: %s\n\n" % (name, json_bytes(event)))
        if not reply.has_names:
            self._chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
