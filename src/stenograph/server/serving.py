"""Listening: the sockets, the server, and its end."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable, Sequence
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from stenograph.errors import StoreError

PORT = 8421
_TRIED = 40
"""Ports after the usual one that are tried."""


def sockets_of(host: str | None, port: int | None) -> tuple[list[socket.socket], int]:
    """Sockets that listen, and their port: the one given, else 8421 or the next that is free. Raises `StoreError`."""
    hosts = ["127.0.0.1", "::1"] if host is None else [host]
    for number in range(PORT, PORT + _TRIED) if port is None else [port]:
        try:
            return _listening(hosts, number)
        except OSError as error:
            if port is None and error.errno == errno.EADDRINUSE:
                continue
            message = f"cannot listen on {hosts[0]} port {number}: {error.strerror}; give another with --port"
            raise StoreError(message) from error
    raise StoreError(f"no port from {PORT} to {PORT + _TRIED - 1} is free; give one with --port")


def _listening(hosts: Sequence[str], port: int) -> tuple[list[socket.socket], int]:
    made: list[socket.socket] = []
    try:
        for host in hosts:
            try:
                family, kind, protocol, _, address = socket.getaddrinfo(
                    host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
                )[0]
                each = socket.socket(family, kind, protocol)
            except OSError:
                if made:  # a machine without IPv6
                    continue
                raise
            made.append(each)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                each.bind(address)
            except OSError as error:
                if len(made) > 1 and error.errno != errno.EADDRINUSE:
                    made.pop().close()
                    continue
                raise
            each.listen(128)
            port = each.getsockname()[1]
    except OSError:
        for each in made:
            each.close()
        raise
    return made, port


class _Server(uvicorn.Server):
    """Ends the open streams before it waits for them."""

    def __init__(self, config: uvicorn.Config, on_exit: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_exit = on_exit

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_exit()
        super().handle_exit(sig, frame)


def serve(app: ASGIApp, sockets: list[socket.socket], on_exit: Callable[[], None], ready: Callable[[], None]) -> None:
    """Serve until Ctrl-C or SIGTERM, then call `on_exit`. Calls `ready` first, as `run` does."""
    run(server_of(app, on_exit), sockets, ready)


def server_of(app: ASGIApp, on_exit: Callable[[], None]) -> uvicorn.Server:
    """A server for an application."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=65_536,
        ws="none",
    )
    return _Server(config, on_exit)


def run(server: uvicorn.Server, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    """Answer until Ctrl-C or SIGTERM. `ready` is called as soon as either of them ends it."""

    def end(*_: object) -> None:
        server.should_exit = True

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # uvicorn raises the signal again when it is done; Ctrl-C is the normal end here, so it is not reported.
    for number in before:
        signal.signal(number, end)
    try:
        ready()
        server.run(sockets=sockets)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
