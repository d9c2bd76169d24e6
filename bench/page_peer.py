"""The list of the page beside agentsview's: the same sessions, the same browser, until a row is on screen."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.archive import PEER, install_peer, peer_environment
from bench.measure import Row, environment, spent_by
from bench.server import browsing, missing_browser, serving
from bench.tree import make_tree

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

SESSIONS = 300
SIZE = 30_000_000
TIMES = 5
_ROW = "() => /\\sother\\s/.test(document.body?.innerText ?? '') && performance.now()"
"""Sessions of the tree are in a folder of this name, and both lists show it in the first rows and only there."""
_JOB = f"from the address to the first row of a list of {SESSIONS} sessions on screen"


def rows(folder: Path) -> list[Row]:
    """Every measurement of this part."""
    if missing := missing_browser() or install_peer():
        return [Row(_JOB, "< agentsview", "not measured", missing, False)]
    home, archive, peer = folder / "listed", folder / "listed-archive", folder / "listed-agentsview"
    make_tree(home, SIZE, SESSIONS)
    with environment(STENOGRAPH_HOME=str(archive)):
        spent_by("-m", "stenograph", "sync", "--home", home)
    with (
        serving(folder / "no-home", archive, "--no-sync") as server,
        _agentsview(home, peer) as address,
        browsing(server) as context,
    ):
        pairs = [(_seconds(context, server.origin), _seconds(context, address)) for _ in range(TIMES)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = statistics.median(their / our for our, their in pairs)
    return [
        Row(
            _JOB,
            "< agentsview",
            f"{ours * 1000:.0f} ms, {ratio:.1f} x",
            f"agentsview {theirs * 1000:.0f} ms",
            ratio > 1,
        )
    ]


def _seconds(context: BrowserContext, url: str) -> float:
    page = context.new_page()
    page.goto(url, wait_until="commit")
    milliseconds: float = page.wait_for_function(_ROW, polling="raf").json_value()
    page.close()
    return milliseconds / 1000


@contextmanager
def _agentsview(home: Path, folder: Path) -> Iterator[str]:
    """Its server over the same sessions, which it has synced before."""
    folder.mkdir()
    variables = {**os.environ, **peer_environment(home, folder)}
    program = PEER / "bin" / "agentsview"
    subprocess.run([program, "sync"], env=variables, capture_output=True, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [str(program), "serve", "--no-browser", "--no-sync", "--no-update-check", "--port", str(port)]
    process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(address, timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()
