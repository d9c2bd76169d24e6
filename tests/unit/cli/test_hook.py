"""`steno hook`: whatever comes, the agent goes on."""

from __future__ import annotations

import fcntl
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stenograph.cli import hook_call
from stenograph.journal import problems
from stenograph.journal.place import archive_home, find_journal, recording_root
from strategies import examples

SESSION = "550e8400-e29b-41d4-a716-446655440000"


class _Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A storage of its own, named by the environment."""
    monkeypatch.setenv("STENOGRAPH_STORAGE", str(tmp_path / "storage"))
    return tmp_path / "storage"


def _problems(store: Path) -> list[str]:
    try:
        return (store / problems.FOLDER / problems.PROBLEMS).read_text().splitlines()
    except FileNotFoundError:
        return []


def _call(monkeypatch: pytest.MonkeyPatch, data: bytes) -> int:
    monkeypatch.setattr(sys, "stdin", _Stdin(data))
    return hook_call.answer("claude")


_garbage = st.binary(max_size=60) | st.recursive(
    st.none() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["transcript_path", "x"]), inner),
).map(lambda value: json.dumps(value).encode())


@settings(examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=_garbage)
def test_garbage_is_a_line_in_the_log(monkeypatch: pytest.MonkeyPatch, store: Path, data: bytes) -> None:
    """No call fails, and each that is not understood is one line in the log of problems."""
    before = len(_problems(store))
    assert _call(monkeypatch, data) == 0
    assert len(_problems(store)) == before + 1


@pytest.mark.parametrize("path", ["relative.jsonl", "/x/session.txt", "/x/\ud800.jsonl", "/x/a\0b.jsonl", 5, None])
def test_an_odd_transcript_is_a_line_in_the_log(monkeypatch: pytest.MonkeyPatch, store: Path, path: Any) -> None:
    """Also one whose name no file can have."""
    call = {"transcript_path": path, "hook_event_name": "Stop"}
    assert _call(monkeypatch, json.dumps(call).encode()) == 0
    assert len(_problems(store)) == 1


@pytest.mark.parametrize("is_archive_writable", [True, False])
def test_a_storage_that_cannot_be_written_is_said_elsewhere(
    monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path, is_archive_writable: bool
) -> None:
    """In the archive, else among the temporary files; the agent goes on, and what is in the way stays."""
    archive, temporary = tmp_path / "archive", tmp_path / "tmp"
    monkeypatch.setenv("STENOGRAPH_HOME", str(archive))
    monkeypatch.setenv("TMPDIR", str(temporary))
    temporary.mkdir()
    store.write_text("a file where a folder should be")
    if not is_archive_writable:
        archive.write_text("another one")
    call = {"transcript_path": str(tmp_path / f"{SESSION}.jsonl"), "hook_event_name": "Stop"}
    assert _call(monkeypatch, json.dumps(call).encode()) == 0
    assert store.read_text() == "a file where a folder should be"
    ((log, line),) = problems.noted_problems(store)
    place = archive / problems.FOLDER if is_archive_writable else temporary / f"stenograph-{os.getuid()}"
    assert log == place / problems.PROBLEMS
    assert "a hook call was not handled" in line
    assert str(store) in line
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_is_said_elsewhere(monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path) -> None:
    """A line that would not be whole goes to the next place, whole."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    write = os.write

    def full(fd: int, data: bytes) -> int:
        return write(fd, data[:3]) if Path(f"/dev/fd/{fd}").readlink().is_relative_to(store) else write(fd, data)

    monkeypatch.setattr(os, "write", full)
    assert problems.note(store, "the disk is full") == tmp_path / "archive" / problems.FOLDER / problems.PROBLEMS
    assert problems.noted_problems(store)[-1][1].endswith("the disk is full")


def test_a_temporary_folder_of_somebody_else_is_not_used(
    monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path
) -> None:
    """A link under our name leads wherever its maker likes; then there is nowhere left to say it."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    for file in (store, tmp_path / "archive"):
        file.touch()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "tmp" / f"stenograph-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    assert problems.note(store, "x") is None
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_problems_are_read_from_every_place(monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path) -> None:
    """Those of a storage, then those that could not be written there."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    problems.note(store, "one")
    problems.note(tmp_path / "archive", "two")
    assert [line.split()[-1] for _, line in problems.noted_problems(store)] == ["one", "two"]
    assert [line.split()[-1] for _, line in problems.noted_problems()] == ["two"]


def test_the_log_does_not_grow_for_ever(store: Path) -> None:
    """It keeps to two files of a MiB each."""
    for _ in range(5):
        problems.note(store, "x" * (problems.LARGEST_LOG // 2))
    folder = store / problems.FOLDER
    assert sorted(each.name for each in folder.iterdir()) == [problems.PROBLEMS, f"{problems.PROBLEMS}.1"]
    assert sum(each.stat().st_size for each in folder.iterdir()) < 3 * problems.LARGEST_LOG


def test_a_call_for_a_session_that_is_collected_only_leaves_its_event(
    monkeypatch: pytest.MonkeyPatch, store: Path, tmp_path: Path
) -> None:
    """Whoever holds the session's lock is woken by the line; nothing else is started."""
    (store / problems.FOLDER).mkdir(parents=True)
    monkeypatch.setattr(os, "posix_spawn", lambda *_, **__: pytest.fail("a process was started"))
    with (store / problems.FOLDER / SESSION).open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        call = {"transcript_path": str(tmp_path / f"{SESSION}.jsonl"), "hook_event_name": "PostToolUse"}
        assert _call(monkeypatch, json.dumps(call).encode()) == 0
    assert (store / problems.FOLDER / SESSION).read_bytes() == b"PostToolUse\n"
    assert _problems(store) == []


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"STENOGRAPH_HOME": "/a/home"},
        {"STENOGRAPH_STORAGE": "here"},
        {"XDG_DATA_HOME": "/data"},
        {"XDG_DATA_HOME": " "},
        {"HOME": "/nobody"},
    ],
    ids=str,
)
def test_the_short_way_records_where_the_long_one_does(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    """Two functions say where sessions are recorded, since one of them must be quick; they say the same."""
    for name in ("STENOGRAPH_HOME", "STENOGRAPH_STORAGE", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert hook_call.storage() == recording_root()
    assert archive_home().is_absolute()


def test_the_short_way_loads_next_to_nothing() -> None:
    """The agent waits while we load: no click, no msgspec, nothing of ours but what the call needs."""
    code = "import sys, stenograph.cli.hook_call; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"click", "msgspec", "asyncio", "logging", "platformdirs", "subprocess"}
    assert {name for name in loaded if name.startswith("stenograph")} == {
        "stenograph",
        "stenograph.cli",
        "stenograph.cli.hook_call",
        "stenograph.journal",
        "stenograph.journal.problems",
        "stenograph.lazy",
        "stenograph.version",
    }


def test_runs_of_agents_are_found_by_their_id(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run that is not in ./storage is looked for in the archive, where hooks record."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    journal = tmp_path / "archive" / "transcripts" / f"{SESSION}.jsonl"
    journal.parent.mkdir(parents=True)
    journal.touch()
    assert find_journal(SESSION[:8]) == journal


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were started, none of which runs."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "posix_spawn", lambda program, command, *_, **__: commands.append(command))
    return commands


def _words(command: list[str]) -> list[str]:
    return command[command.index("collect") + 1 :]


def test_a_call_that_is_an_argument_names_its_session(store: Path, started: list[list[str]]) -> None:
    """An agent that calls a program after each turn: the process that is started looks for the session."""
    assert hook_call.answer("codex", "thread-id", json.dumps({"type": "turn", "thread-id": SESSION})) == 0
    ((*words,),) = [_words(command) for command in started]
    assert words[:5] == [f"--session={SESSION}", "--idle", "60", "--lock", "0"]
    assert words[5:] == ["--from", "codex", "--root", str(store)]


@pytest.mark.parametrize("session", ["", "../x", "--root", "a b", 5, None, "x" * 200])
def test_an_odd_session_is_a_line_in_the_log(store: Path, started: list[list[str]], session: Any) -> None:
    """Only an id is a word of a command."""
    assert hook_call.answer("codex", "thread-id", json.dumps({"thread-id": session})) == 0
    assert (started, len(_problems(store))) == ([], 1)


def test_an_agent_with_one_store_is_kept_by_one_process(
    monkeypatch: pytest.MonkeyPatch, store: Path, started: list[list[str]]
) -> None:
    """The first call starts it and leaves it the lock; each call is a line with the process that called."""
    call = json.dumps({"hook_event_name": "session.created", "pid": 17}).encode()
    monkeypatch.setattr(sys, "stdin", _Stdin(call))
    assert hook_call.answer("opencode") == 0
    monkeypatch.setattr(sys, "stdin", _Stdin(call))
    assert hook_call.answer("opencode") == 0  # the lock is still open in this process
    assert len(started) == 1
    assert _words(started[0])[:4] == ["--from", "opencode", "--root", str(store)]
    assert (store / "collectors" / "opencode").read_text() == "session.created 17\n" * 2


def test_a_call_may_name_its_process(
    monkeypatch: pytest.MonkeyPatch, store: Path, started: list[list[str]], tmp_path: Path
) -> None:
    """By an argument that the shell gives, or in the call: the recording ends with that process."""
    transcript = str(tmp_path / f"{SESSION}.jsonl")
    for more, call in (("17", {}), ("", {"pid": 17})):
        told = {"transcript_path": transcript, "hook_event_name": "Stop", **call}
        monkeypatch.setattr(sys, "stdin", _Stdin(json.dumps(told).encode()))
        assert hook_call.answer("qwen-code", more) == 0
    assert (store / "collectors" / SESSION).read_text() == "Stop 17\n" * 2
    assert (len(started), _problems(store)) == (1, [])
