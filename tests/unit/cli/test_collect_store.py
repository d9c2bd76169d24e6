"""`steno collect` for an agent that keeps its sessions in a database, and by a session's id."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, written
from run_kinds import DATABASE_SESSION, make_database
from stenograph import open_archive
from stenograph.cli.hook_call import lock_session

Steno = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and an archive of their own."""
    for name in ("XDG_DATA_HOME", "OPENCODE_DB", "CLAUDE_CONFIG_DIR", "STENOGRAPH_STORAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    return tmp_path


def _database(home: Path) -> Path:
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    return make_database(folder / "opencode.db", [DATABASE_SESSION])


def test_a_store_is_kept_in_the_archive(steno: Steno, home: Path) -> None:
    """What the agent has written is a run of the archive, without a sync."""
    _database(home)
    assert steno("collect", "--from", "opencode", "--idle", "0").code == 0
    with open_archive(home / "archive") as archive:
        assert [info.agent for info in archive.runs()] == ["opencode"]


def test_it_ends_with_the_processes_that_called(home: Path) -> None:
    """Their lines name them: when none lives any more, it keeps what is there, and lets the lock go."""
    _database(home)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    folder = home / "archive" / "collectors"
    lock = lock_session(folder, "opencode", f"session.idle {gone.pid}")
    assert lock is not None
    words = ["collect", "--from", "opencode", "--root", str(home / "archive"), "--lock", str(lock)]
    done = subprocess.run(
        [sys.executable, "-m", "stenograph", *words], pass_fds=[lock], capture_output=True, timeout=100
    )
    os.close(lock)
    assert (done.returncode, done.stderr) == (0, b"")
    with open_archive(home / "archive") as archive:
        assert [info.agent for info in archive.runs()] == ["opencode"]
    again = lock_session(folder, "opencode", "session.created 1")
    assert again is not None
    os.close(again)


def test_a_session_is_found_by_its_id(steno: Steno, home: Path) -> None:
    """Where its agent keeps it; one that is not there is one line, exit code 3."""
    written(home / ".claude" / "projects" / "p" / f"{SESSION}.jsonl", claude_line(0))
    done = steno("collect", "--session", SESSION, "--from", "claude", "--idle", "0", "--json")
    assert done.json["run_id"] == SESSION
    missing = steno("collect", "--session", "nobody", "--from", "claude")
    assert (missing.code, missing.err.count("\n")) == (3, 1)


def test_a_session_that_is_recorded_already_is_left_alone(steno: Steno, home: Path) -> None:
    """A turn that is told as ended after everything was recorded starts nothing, and leaves no note."""
    written(home / ".claude" / "projects" / "p" / f"{SESSION}.jsonl", claude_line(0))
    steno("collect", "--session", SESSION, "--from", "claude", "--idle", "0")
    words = ["collect", "--session", SESSION, "--from", "claude", "--lock", "0"]
    done = subprocess.run([sys.executable, "-m", "stenograph", *words], capture_output=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (home / "archive" / "collectors").exists()


@pytest.mark.parametrize(
    "words", [[], ["--session", SESSION], ["--from", "claude"], ["x.jsonl", "--session", SESSION, "--from", "claude"]]
)
def test_what_is_not_one_session_is_wrong_usage(steno: Steno, words: list[str]) -> None:
    """A path, or an id with its agent, or an agent with a store: one of them."""
    assert steno("collect", *words).code == 2
