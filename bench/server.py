"""`steno serve` as a process of its own, a client that it lets in, and a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import TYPE_CHECKING

from bench.measure import BYTECODE

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

CHROMIUM = Path("/usr/bin/chromium")


@dataclass
class Server:
    """A server that runs."""

    process: subprocess.Popen[str]
    address: str
    """As it was printed, with the token."""
    started: float
    """Seconds until it had answered for the first time."""
    opener: urllib.request.OpenerDirector = field(
        default_factory=lambda: urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    )

    @property
    def origin(self) -> str:
        """The address without the token."""
        return self.address.partition("/?")[0]

    def get(self, place: str) -> bytes:
        """What is at an address."""
        data: bytes = self.opener.open(self.origin + place, timeout=60).read()
        return data

    def bytes_sent(self, place: str) -> int:
        """How long the answer is for a browser, which takes it packed."""
        request = urllib.request.Request(self.origin + place, headers={"Accept-Encoding": "gzip"})
        return len(self.opener.open(request, timeout=60).read())

    def seconds(self, place: str) -> float:
        """How long an answer takes, from the request to its last byte."""
        began = time.perf_counter()
        self.get(place)
        return time.perf_counter() - began

    @property
    def megabytes(self) -> float:
        """What the server itself has in memory now; the process that syncs is another one."""
        status = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmRSS"))

    @property
    def processor(self) -> float:
        """Seconds of processor time so far, of the server and the process that syncs."""
        pids = [str(self.process.pid)]
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for thread in children.parent.parent.iterdir():
            pids += (thread / "children").read_text().split()
        ticks = 0
        for pid in pids:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(home: Path, archive: Path, *options: str) -> Iterator[Server]:
    """A server over an archive, for the agents of a home; ended afterwards, by its id."""
    values = {"HOME": str(home), "STENOGRAPH_HOME": str(archive), "PYTHONPYCACHEPREFIX": str(BYTECODE)}
    unset = ("STENOGRAPH_STORAGE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    home.mkdir(exist_ok=True, parents=True)
    command = [sys.executable, "-m", "stenograph", "serve", "--no-open", "--port", "0", *options]
    began = time.perf_counter()
    process = subprocess.Popen(command, env={**environment, **values}, stdout=subprocess.PIPE, text=True, cwd=home)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert re.fullmatch(r"http://localhost:\d+/\?token=\w+\n", line), line
        server = Server(process, line.strip(), 0.0)
        server.opener.open(server.address, timeout=60).read()
        server.started = time.perf_counter() - began
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def missing_browser() -> str:
    """Why no browser can be had; nothing when one is here."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed"
    return "" if CHROMIUM.exists() else f"there is no {CHROMIUM}"


@contextmanager
def browsing(server: Server) -> Iterator[BrowserContext]:
    """A Chromium that the server lets in."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(server.address)
        page.close()
        yield context
        context.close()
        browser.close()
