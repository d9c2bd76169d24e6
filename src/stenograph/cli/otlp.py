"""What `steno receive` and `steno serve --otlp` share: the options and the listener."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from stenograph.archive.store.home import Home
from stenograph.cli.options import say
from stenograph.errors import MissingExtra
from stenograph.render.control_chars import on_one_line

if TYPE_CHECKING:
    import uvicorn

LOCAL = ("127.0.0.1", "::1", "localhost")
host_option = click.option(
    "--host", metavar="ADDRESS", help="Listen on this address, so that others can reach it; needs --token."
)
token_option = click.option(
    "--token",
    envvar="STENOGRAPH_RECEIVE_TOKEN",
    metavar="TEXT",
    help="Accept only senders with this token: OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20TEXT.",
)


def check_host(host: str | None, token: str | None) -> None:
    """Raise a usage error if other machines could send without a token."""
    if token is not None and not token.strip():
        raise click.UsageError("the token is empty; give --token at least one character")
    if host is not None and host not in LOCAL and token is None:
        raise click.UsageError(f"other machines can reach {host}; add --token TEXT, which senders must then send")


class OtlpListener:
    """Listens for OTLP on its own port."""

    def __init__(self, home: Home, host: str | None, port: int, token: str | None, *, syncs: bool) -> None:
        """With `syncs`, received data is synced into the archive; otherwise another process does that."""
        try:
            from stenograph.server.otlp import application
            from stenograph.server.serving import server_of, sockets_of
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio"):
                raise
            raise MissingExtra("starlette", "otlp") from error
        from stenograph.archive.received.receiver import Receiver
        from stenograph.server.receiving import ReceivedSync

        self._sync = ReceivedSync(home, _complain) if syncs else None
        changed = self._sync.changed if self._sync is not None else _nothing
        self._sockets, number = sockets_of(host, port)
        try:
            self._receiver = Receiver(home.path, changed, _complain)
        except BaseException:
            self._close_sockets()
            raise
        self._server: uvicorn.Server = server_of(application(self._receiver, token), lambda: None)
        self._thread: threading.Thread | None = None
        name = f"[{host}]" if host and ":" in host else host or "127.0.0.1"
        self.address = f"http://{name}:{number}"
        """What to set OTEL_EXPORTER_OTLP_ENDPOINT to."""

    @property
    def ignored(self) -> int:
        """Spans and log records that are not an agent's."""
        return self._receiver.ignored

    def __enter__(self) -> Self:
        """Resume the sessions that were received before."""
        self._receiver.start()
        if self._sync is not None:
            self._sync.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop after everything accepted is written."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
        self._receiver.close()
        if self._sync is not None:
            self._sync.close()
        self._close_sockets()

    def serve(self, ready: Callable[[], None]) -> None:
        """Serve until Ctrl-C or SIGTERM. Calls `ready` first."""
        from stenograph.server.serving import run

        run(self._server, self._sockets, ready)

    def start(self) -> None:
        """Serve in a thread until the end of the `with`."""
        self._thread = threading.Thread(target=self._server.run, args=(self._sockets,), daemon=True)
        self._thread.start()

    def _close_sockets(self) -> None:
        for each in self._sockets:
            each.close()


def _nothing(_: Any) -> None:
    """Does nothing: another process notices which files grew."""


def _complain(problem: str) -> None:
    say(on_one_line(problem))
