"""Agents that are recorded while they work: by `steno run`, by hooks, in an archive; and the processes that do it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agents import programs, session
from agents.session import PATIENCE, Session

STENO = [sys.executable, "-m", "stenograph"]


@contextlib.contextmanager
def hooked(version: str, place: Path) -> Iterator[Session]:
    """Claude Code whose settings call our hook, as `steno install` leaves them."""
    with session.claude(version, place) as claude:
        install_hooks(claude)
        claude.environment["STENOGRAPH_STORAGE"] = str(place / "storage")
        yield claude


def install_hooks(claude: Session) -> None:
    """Make Claude Code's settings call our hook."""
    settings = claude.home / ".claude" / "settings.json"
    subprocess.run([*STENO, "install", "claude", "--settings", str(settings)], check=True, capture_output=True)


def under_run(agent: Session) -> Session:
    """The same agent, started by `steno run`."""
    return Session(
        agent.version, [*STENO, "run", "--", *agent.command], agent.place, agent.model, agent.transcripts,
        agent.environment,
    )  # fmt: skip


def until(condition: Callable[[], object]) -> None:
    """Wait for something."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.05)


# Processes of a session.


def agents_of(agent: Session) -> list[int]:
    """The processes of the agent's own program."""
    return [pid for pid, line in _processes(agent) if os.fsencode(programs.CACHE) in line and b"stenograph" not in line]


def collectors_of(agent: Session) -> list[int]:
    """The processes that hooks started to follow a session."""
    return [pid for pid, line in _processes(agent) if b"stenograph\0collect\0" in line]


def runs_of(agent: Session) -> list[int]:
    """The processes of `steno run`."""
    return [pid for pid, line in _processes(agent) if b"stenograph\0run\0" in line]


def everyone_of(agent: Session) -> list[int]:
    """All of them, commands of the agent included."""
    return [pid for pid, _ in _processes(agent)]


def kill(pids: list[int]) -> int:
    """How many of these processes were there to be killed."""
    killed = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killed += 1
    return killed


def _processes(agent: Session) -> list[tuple[int, bytes]]:
    """Number and command line of each process; those that have ended have neither a folder nor a command line.

    Who collects for hooks works in no folder of the session's, but names it.
    """
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit():
                line = (process / "cmdline").read_bytes()
                if os.fsencode(agent.place) in line or (process / "cwd").readlink() == agent.folder:
                    found.append((int(process.name), line))
    return found
