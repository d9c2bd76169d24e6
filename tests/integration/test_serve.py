"""`steno serve` as a process: it listens, keeps the archive, and takes everything along when it ends."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from archive_cases import claude_line, session_path, written
from serving import WAIT, Server, serving
from stenograph import start_run
from stenograph.archive.store.home import home_of
from stenograph.archive.store.lock import Lock
from stenograph.bundle import BundleOptions, create_bundle
from stenograph.cli.program import cli
from stenograph.errors import SourceError
from stenograph.journal.reader import read_events


def asked(server: Server, place: str) -> object:
    token = server.address.partition("token=")[2]
    request = urllib.request.Request(server.origin + place, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=WAIT) as answer:
        return json.loads(answer.read())


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def keepers(archive: Path) -> list[str]:
    """The processes that keep an archive up to date."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
        except OSError:
            continue
        if b"stenograph.server.keeping" in command and str(archive).encode() in command:
            found.append(process.name)
    return found


def test_it_listens_syncs_and_ends(tmp_path: Path) -> None:
    """One address on standard output; the archive is kept; Ctrl-C ends it with 0, and its keeper with it."""
    written(session_path(tmp_path / "home"), claude_line(0), claude_line(1, "assistant"))
    with serving(tmp_path) as server:
        until(lambda: asked(server, "/api/v1/health")["keeping"] == "yes")
        assert len(asked(server, "/api/v1/runs")["runs"]) == 1
        assert keepers(tmp_path / "archive")
    assert server.process.returncode == 0
    assert keepers(tmp_path / "archive") == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_may_be_ended_as_soon_as_it_has_printed_its_address(tmp_path: Path, number: signal.Signals) -> None:
    """With 0, too: here the browser that it opens, before it serves anything, sends the signal."""
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\nkill -{number.value} $PPID\n")
    browser.chmod(0o755)
    command = [sys.executable, "-m", "stenograph", "serve", "--open", "--port", "0"]
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "STENOGRAPH_HOME": str(tmp_path / "archive"),
        "BROWSER": f"{shlex.quote(str(browser))} %s",
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("http://localhost:")
    assert keepers(tmp_path / "archive") == []


def test_its_keeper_ends_when_it_is_killed(tmp_path: Path) -> None:
    """Nobody is left behind."""
    with serving(tmp_path) as server:
        until(lambda: keepers(tmp_path / "archive"))
        server.kill()
        until(lambda: not keepers(tmp_path / "archive"))


def test_it_follows_a_watch_that_is_at_work(tmp_path: Path) -> None:
    """Where another process watches the archive, that one keeps it."""
    home = home_of(tmp_path / "archive")
    home.make()
    lock = Lock(home.watch_lock, "steno watch")
    lock.acquire()
    try:
        with serving(tmp_path) as server:
            until(lambda: asked(server, "/api/v1/health")["keeping"] == "elsewhere")
    finally:
        lock.release()


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    """One line, exit code 4."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment = {**os.environ, "STENOGRAPH_HOME": str(tmp_path)}
        command = [sys.executable, "-m", "stenograph", "serve", "--no-open", "--no-sync", "--port", str(port)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT, check=False)
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert "--port" in done.stderr


def test_a_bundle_is_served(tmp_path: Path) -> None:
    """By its path, at an address of its own; what is left in the way is one line with the right code."""
    with start_run("review", root=tmp_path) as run:
        run.user("Any bugs?")
    bundle = create_bundle(tmp_path / "a.zip", read_events(run.path), options=BundleOptions(environment=False))
    with serving(tmp_path, str(bundle)) as server:
        assert "/bundle?token=" in server.address
        assert [each["run_id"] for each in asked(server, "/api/v1/runs")["runs"]] == [run.run_id]
    assert server.process.returncode == 0
    (tmp_path / "b.zip").write_bytes(b"no zip")
    for name in ("b.zip", "none.zip"):
        found = CliRunner().invoke(cli, ["serve", str(tmp_path / name)])
        assert isinstance(found.exception, SourceError), found.output
    assert CliRunner().invoke(cli, ["serve", str(bundle), "--no-sync"]).exit_code == 2
