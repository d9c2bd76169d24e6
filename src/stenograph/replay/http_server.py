"""An HTTP server on 127.0.0.1 that ends with all its connections and threads."""

from __future__ import annotations

import contextlib
import gzip
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zstandard

from stenograph.errors import StoreError
from stenograph.export.wording import json_bytes

_LARGEST = 512 << 20
"""The most bytes of a request that are read."""
_LOCAL = ("127.0.0.1", "localhost")
_PATIENCE = 60.0
"""Seconds after which a silent connection is closed."""


@contextlib.contextmanager
def listening(handler: type[Handler], port: int = 0) -> Iterator[str]:
    """Answer requests while the block runs; yields the address, without a path. Port 0 takes a free one."""
    try:
        server = _Server(("127.0.0.1", port), handler)
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
        """Print nothing on stderr except our own defects."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """What the servers of replays share: reading bodies, sending JSON and chunks."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _PATIENCE

    def handle(self) -> None:
        """Ignore clients that disconnect."""
        with contextlib.suppress(ConnectionError, TimeoutError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing on stderr: the report has the requests."""

    def do_HEAD(self) -> None:
        self._answer(self.head)

    def do_GET(self) -> None:
        self._answer(self.get)

    def do_POST(self) -> None:
        self._answer(self.post)

    def _answer(self, method: Callable[[], None]) -> None:
        """Answer only requests that name this machine as host: a web page with a host name of its own is refused."""
        host = self.headers.get("host", "").rpartition(":")[0]
        if host in _LOCAL:
            method()
        else:
            self.send_json(403, {"error": {"message": "stenograph answers only this machine, as 127.0.0.1"}})
            self.close_connection = True

    def head(self) -> None:
        """Answer a HEAD request."""
        raise NotImplementedError

    def get(self) -> None:
        """Answer a GET request."""
        raise NotImplementedError

    def post(self) -> None:
        """Answer a POST request."""
        raise NotImplementedError

    @property
    def bare_path(self) -> str:
        """The path without its query."""
        return self.path.partition("?")[0]

    def body(self) -> bytes:
        """The body of the request, unpacked. Raises `ValueError` for one that is not what its headers say."""
        try:
            return self._unpacked(self._read())
        except (EOFError, OSError, zstandard.ZstdError) as error:
            raise ValueError(f"the body cannot be unpacked: {error}") from error

    def _read(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", "").lower():
            return self.rfile.read(max(0, min(int(self.headers.get("content-length") or 0), _LARGEST)))
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

    def send_json(self, status: int, document: dict[str, Any]) -> None:
        """A whole answer."""
        data = json_bytes(document)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def begin_chunks(self, status: int, kind: str) -> None:
        """The head of an answer that comes in pieces."""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def send_chunk(self, data: bytes) -> None:
        """A piece; an empty one is the end."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
