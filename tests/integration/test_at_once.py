"""What was recorded is there at once, and nobody waited for it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from archive_cases import claude_line, session_path, synced, written
from stenograph import Recorder
from stenograph.archive.keep import discovery, walk
from stenograph.archive.store.home import home_of
from stenograph.cli.freshness import age_of_sync
from stenograph.cli.program import cli
from stenograph.errors import RunNotFound
from stenograph.model.payload import LifecyclePayload
from stenograph.runs.own_journals import index_journals

PATIENCE = 120
STENO = [sys.executable, "-W", "error", "-m", "stenograph"]


@pytest.fixture(autouse=True)
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and an archive of its own, in which what is recorded is indexed."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("STENOGRAPH_INDEX", "1")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "archive"


def listed() -> list[dict[str, object]]:
    done = CliRunner().invoke(cli, ["ls", "--json"])
    return json.loads(done.stdout) if done.exit_code == 0 else []


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.05)


def test_a_recorded_command_is_listed_searched_and_counted_without_a_sync(archive: Path) -> None:
    """Its journal is indexed in the background, after its end, and prints nothing."""
    done = subprocess.run([*STENO, "run", "--", "echo", "zanzibar"], capture_output=True, timeout=PATIENCE, check=True)
    assert (done.stdout, done.stderr) == (b"zanzibar\n", b"")
    until(listed)
    (run,) = listed()
    assert (run["agent"], run["status"]) == ("stenograph", "finished")
    until(lambda: CliRunner().invoke(cli, ["search", "zanzibar"]).exit_code == 0)
    assert json.loads(CliRunner().invoke(cli, ["stats", "--json"]).stdout)["totals"]["tool_calls"] == 1
    assert not (archive / "collectors").exists()


def test_a_collected_session_is_listed_without_a_sync(tmp_path: Path) -> None:
    """`steno collect` has its journal indexed when it ends; a hook runs the same command."""
    path = written(session_path(tmp_path / "home"), claude_line(1, "user", "hello"), claude_line(2, "assistant", "hi"))
    subprocess.run([*STENO, "collect", "--idle", "0", str(path)], capture_output=True, timeout=PATIENCE, check=True)
    until(listed)
    assert [run["run_id"] for run in listed()] == [path.stem]


def test_a_journal_elsewhere_is_not_the_archives(tmp_path: Path, archive: Path) -> None:
    """A root of one's own stays out of the archive: no sync would find it there, either."""
    subprocess.run([*STENO, "run", "--root", str(tmp_path / "mine"), "--", "true"], timeout=PATIENCE, check=True)
    assert len(list((tmp_path / "mine" / "transcripts").iterdir())) == 1
    assert not (archive / "index.db").exists()


def test_an_index_of_another_version_is_left_to_a_sync(tmp_path: Path, archive: Path) -> None:
    """A background process does not make a whole index anew."""
    from stenograph.archive.index.schema import open_index

    archive.mkdir()
    connection = open_index(archive, readonly=False)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with Recorder(archive) as recorder:
        recorder.record("run.started", LifecyclePayload(name="x", kind="command"))
    before = (archive / "index.db").read_bytes()
    index_journals([str(recorder.path)])
    assert (archive / "index.db").read_bytes() == before


def on_terminal(*words: str) -> tuple[str, str]:
    """What a command prints to standard output, and to standard error when both are terminals of their own."""
    out, out_end = pty.openpty()
    err, err_end = pty.openpty()
    process = subprocess.Popen([*STENO, *words], stdin=subprocess.DEVNULL, stdout=out_end, stderr=err_end)
    os.close(out_end)
    os.close(err_end)
    texts = []
    for fd in (out, err):
        data = b""
        while True:
            try:
                more = os.read(fd, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            data += more
        os.close(fd)
        texts.append(data.decode().replace("\r\n", "\n"))
    assert process.wait(PATIENCE) == 0
    return texts[0], texts[1]


def test_on_a_terminal_one_line_names_the_run(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with --quiet."""
    monkeypatch.setenv("STENOGRAPH_INDEX", "0")
    out, err = on_terminal("run", "--", "echo", "hi")
    assert out == "hi\n"
    (journal,) = (archive / "transcripts").iterdir()
    assert err == f"steno: recorded as {journal.stem[:8]}; steno show {journal.stem[:8]} prints it\n"
    assert on_terminal("run", "--quiet", "--", "echo", "hi") == ("hi\n", "")


def test_a_reading_command_says_on_a_terminal_how_old_the_last_sync_is(tmp_path: Path, archive: Path) -> None:
    """And how to bring all up to date; a pipe hears nothing of it."""
    written(session_path(tmp_path / "home"), claude_line(1))
    assert CliRunner().invoke(cli, ["sync"]).exit_code == 0
    home = home_of(archive)
    assert home.synced_at() is not None
    os.utime(home.last_sync, (time.time() - 61_200, time.time() - 61_200))
    out, err = on_terminal("ls")
    assert out.count("\n") == 3
    assert err.startswith("steno: last sync 17 h 0 min ago; add --sync ")
    assert CliRunner().invoke(cli, ["ls"]).stderr == ""


def test_the_age_is_not_said_while_the_archive_is_watched(archive: Path) -> None:
    """Then nothing in it is old."""
    from stenograph.archive.store.lock import Lock

    home = home_of(archive)
    home.make()
    assert "not synced yet" in (age_of_sync(home) or "")
    lock = Lock(home.watch_lock, "a test")
    lock.acquire()
    assert age_of_sync(home) is None
    lock.release()


def test_reading_does_not_look_at_the_agents_folders(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That would take longer than the command; only `--sync` does."""
    written(session_path(tmp_path / "home"), claude_line(1))
    synced(tmp_path / "home", archive)
    with monkeypatch.context() as patched:
        patched.setattr(walk, "walk", lambda *_: pytest.fail("a folder was looked through"))
        patched.setattr(discovery, "walk", lambda *_: pytest.fail("a folder was looked through"))
        for words in (["ls"], ["search", "hello"], ["stats"], ["sql", "SELECT 1"]):
            assert CliRunner().invoke(cli, words).exit_code in (0, 1), words


def test_sync_first_brings_all_up_to_date(tmp_path: Path) -> None:
    """`--sync` is `steno sync` before the command."""
    assert isinstance(CliRunner().invoke(cli, ["ls"]).exception, RunNotFound)
    written(session_path(tmp_path / "home"), claude_line(1, "user", "kilimanjaro"))
    for words in (["ls"], ["search", "kilimanjaro"], ["stats"], ["sql", "SELECT count(*) FROM runs"]):
        assert CliRunner().invoke(cli, [*words, "--sync"]).exit_code == 0, words


def test_runs_agents_and_formats_complete_in_the_shell(tmp_path: Path, archive: Path) -> None:
    """An archive that is not there is not an error."""

    def offered(*words: str) -> list[str]:
        found = ShellComplete(cli, {}, "steno", "_STENO_COMPLETE").get_completions(list(words[:-1]), words[-1])
        return [item.value for item in found if item.type == "plain"]

    assert offered("show", "0") == []
    path = written(session_path(tmp_path / "home"), claude_line(1))
    synced(tmp_path / "home", archive)
    assert offered("show", path.stem[:3]) == [path.stem]
    assert offered("show", "zz") == []
    assert offered("ls", "--agent", "claud") == ["claude"]
    assert offered("convert", "--from", "codex_r") == ["codex_rollout"]
    assert "search" in offered("sea")
