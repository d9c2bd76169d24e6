"""`steno serve` as a process of its own, and a browser that is let in."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

WAIT = 120
"""Seconds after which something hangs: a server and a browser may take long on a busy machine."""


def until(page: Page, condition: Callable[[], object]) -> None:
    """Wait until a condition holds, and let the page and its events go on meanwhile."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


@dataclass
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str
    """As it was printed, with the token."""

    @property
    def origin(self) -> str:
        """Without it."""
        return self.address.partition("?")[0].rpartition("/")[0]

    @property
    def port(self) -> int:
        return int(self.origin.rpartition(":")[2])

    def kill(self) -> None:
        """As a crash would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(folder: Path, *options: str, port: int = 0) -> Iterator[Server]:
    """A server over the archive in a folder, for the agents of the home beside it; ended afterwards, by its id."""
    environment = {**os.environ, "HOME": str(folder / "home"), "STENOGRAPH_HOME": str(folder / "archive")}
    for name in ("STENOGRAPH_STORAGE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        environment.pop(name, None)
    (folder / "home").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "stenograph", "serve", "--no-open", "--port", str(port), *options]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=folder)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert re.fullmatch(r"http://localhost:\d+/(bundle)?\?token=\w+\n", line), line
        yield Server(process, line.strip())
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(WAIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stdout.close()


@contextmanager
def port_kept_free() -> Iterator[int]:
    """A port that only a server that is given it listens on: other programs that want any port get another one."""
    with ExitStack() as sockets:
        port = 0
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            kept = sockets.enter_context(socket.socket(family))
            kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # it does not listen, so a server may
            kept.bind((host, port))
            port = kept.getsockname()[1]
        yield port


@dataclass
class Visitor:
    """A browser that was let in, and everything that went wrong in it."""

    context: BrowserContext
    server: Server
    complaints: list[str]

    def open(self, place: str = "/") -> Page:
        """A tab."""
        page = self.context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.server.origin + place, wait_until="load")
        return page


@contextmanager
def visiting(browser: Browser, server: Server, **options: Any) -> Iterator[Visitor]:
    """A visitor; whatever is asked of another host is a complaint and gets nothing."""
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    context.set_default_timeout(WAIT * 1000)
    complaints: list[str] = []

    def routed(route: Any) -> None:
        if route.request.url.startswith((server.origin, "data:")):
            route.continue_()
        else:
            complaints.append(route.request.url)
            route.abort()

    context.route("**/*", routed)
    try:
        page = context.new_page()
        page.goto(server.address)
        assert "token" not in page.url
        page.close()
        yield Visitor(context, server, complaints)
    finally:
        context.close()
