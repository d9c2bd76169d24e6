"""`steno doctor`: what is well, what is not, and what to do; nothing is changed."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections import Counter, namedtuple
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, session_path, synced, thread_path, written
from stenograph import Recorder
from stenograph.archive.store.lock import Lock
from stenograph.cli.installing import hooks as hook_settings

Steno = Callable[..., Any]
WEEK = 7 * 24 * 3600


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with no agent yet, and an archive that is not there yet."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "OPENCODE_DB", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(hook_settings, "version_of", lambda spec: None)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def archive(tmp_path: Path, home: Path) -> Path:
    """Where the archive is."""
    return tmp_path / "archive"


def told(steno: Steno, *, code: int) -> tuple[dict[str, Any], dict[str, str]]:
    """The report, and its findings by kind; what needs a person decides about the exit code."""
    ended = steno("doctor", "--json")
    assert (ended.code, ended.err) == (code, "")
    report = ended.json
    assert report["ok"] == (code == 0) == (not any(each["needs_person"] for each in report["findings"]))
    assert all("\n" not in each["message"] for each in report["findings"])
    shown = steno("doctor")
    assert shown.code == code
    assert all(each["message"] in shown.out for each in report["findings"])
    return report, {each["kind"]: each["message"] for each in report["findings"]}


def agent(report: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [each for each in report["agents"] if each["agent"] == name]
    return dict(found)


def test_a_machine_without_anything_is_well(steno: Steno, archive: Path) -> None:
    """No archive, no agent, no hooks: said, and nobody is asked for."""
    report, found = told(steno, code=0)
    assert found == {"no_archive": f"there is no archive in {archive} yet; run: steno sync"}
    assert (report["archive"]["is_there"], report["agents"], report["journals"]) == (False, [], [])
    assert not archive.exists()


def test_coverage_is_that_of_an_independent_count(steno: Steno, home: Path, archive: Path) -> None:
    """Lines, unknown types, malformed lines and versions, counted with nothing but `json`."""
    lines = [
        claude_line(1),
        claude_line(2, "assistant"),
        claude_line(3, type="hologram"),
        claude_line(4, type="hologram"),
        claude_line(5, type="telepathy"),
        b"this is not JSON\n",
    ]
    path = written(session_path(home), *lines)
    kinds: Counter[str] = Counter()
    for line in path.read_bytes().splitlines():
        try:
            kinds[json.loads(line)["type"]] += 1
        except ValueError:
            kinds["malformed"] += 1
    synced(home, archive)
    report, found = told(steno, code=0)
    claude = agent(report, "claude")
    assert claude["lines"] == kinds.total() == 6
    assert claude["understood"] == kinds["user"] + kinds["assistant"]
    assert claude["malformed"] == kinds["malformed"]
    assert claude["unknown_types"] == {"hologram": kinds["hologram"], "telepathy": kinds["telepathy"]}
    assert claude["unknown"] == 3
    assert claude["versions"] == {"2.1.197": 1}
    assert (claude["files_seen"], claude["files_kept"], claude["files_waiting"], claude["runs"]) == (1, 1, 0, 1)
    assert claude["bytes_seen"] == claude["bytes_kept"] == path.stat().st_size
    assert "hologram (2), telepathy (1)" in found["unknown_types"]


def test_what_is_not_kept_yet_waits(steno: Steno, home: Path, archive: Path) -> None:
    """New and changed files are told; after a week without a sync they need a person, unless a watcher runs."""
    path = written(session_path(home), claude_line(1))
    written(thread_path(home), b'{"timestamp":"2026-03-01T11:00:00.000Z","type":"session_meta","payload":{}}\n')
    synced(home, archive)
    written(path, claude_line(2))
    report, found = told(steno, code=0)
    assert [agent(report, name)["files_waiting"] for name in ("claude", "codex")] == [1, 0]
    assert found["waiting"] == "claude: 1 files are new or changed since they were kept; run: steno sync"
    long_ago = time.time() - 2 * WEEK
    os.utime(archive / "write.lock", (long_ago, long_ago))
    report, _ = told(steno, code=1)
    assert report["archive"]["last_sync_age_s"] > WEEK
    lock = Lock(archive / "watch.lock", "steno watch")
    lock.acquire()
    try:
        report, _ = told(steno, code=0)
        assert report["archive"]["watcher_pid"] == os.getpid()
    finally:
        lock.release()
    assert told(steno, code=1)[0]["archive"]["watcher_pid"] is None


def test_what_only_the_archive_has_is_told(steno: Steno, home: Path, archive: Path) -> None:
    """Files that are gone, and the runs of which no other is left."""
    path = written(session_path(home), claude_line(1))
    other = written(session_path(home, "11111111-4b5a-4978-8695-a4b3c2d1e0f0"), claude_line(1, session="x"))
    synced(home, archive)
    path.unlink()
    synced(home, archive)
    report, found = told(steno, code=0)
    claude = agent(report, "claude")
    assert (claude["files_kept"], claude["files_seen"], claude["files_gone"]) == (2, 1, 1)
    assert (claude["runs"], claude["runs_only_here"]) == (2, 1)
    assert found["only_here"].startswith("claude: 1 runs are only in the archive")
    assert other.exists()


def test_a_file_that_no_format_knows_is_counted(steno: Steno, home: Path, archive: Path) -> None:
    """It is seen, not kept, and does not wait."""
    written(thread_path(home).with_name("notes.jsonl"), b'{"shopping":["milk"]}\n')
    synced(home, archive)
    codex = agent(told(steno, code=0)[0], "codex")
    assert (codex["files_seen"], codex["files_skipped"], codex["files_waiting"], codex["files_kept"]) == (
        1,
        1,
        0,
        0,
    )


def test_a_subagent_whose_file_is_missing(steno: Steno, home: Path, archive: Path) -> None:
    """The call ended, its answer is there, and nothing tells what the subagent did."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "look"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}
    written(
        session_path(home),
        claude_line(1),
        claude_line(2, "assistant", message={"id": "m", "role": "assistant", "model": "x", "content": [call]}),
        claude_line(3, message={"role": "user", "content": [result]}),
    )
    synced(home, archive)
    report, found = told(steno, code=0)
    assert agent(report, "claude")["missing_subagents"] == [SESSION]
    assert SESSION[:8] in found["missing_subagent"]


def test_what_others_can_read_needs_a_person(steno: Steno, home: Path, archive: Path) -> None:
    """The folder, its database, packs and journals, with the command that mends it."""
    written(session_path(home), claude_line(1))
    synced(home, archive)
    told(steno, code=0)
    pack = next((archive / "kept").iterdir())
    pack.chmod(0o644)
    archive.chmod(0o755)
    _, found = told(steno, code=1)
    assert found["permissions"] == f"others can reach {archive} (mode 0755) and 1 more; run: chmod -R go= {archive}"
    os.system(found["permissions"].partition("run: ")[2])  # what a person would do
    told(steno, code=0)


@pytest.mark.parametrize("damage", ["garbage", "cut", "missing", "older", "newer"])
def test_a_damaged_archive_is_told_and_the_rest_is_looked_at(
    steno: Steno, home: Path, archive: Path, damage: str
) -> None:
    """An index of garbage, half of one, none, and one of another version: one line that says what to do."""
    written(session_path(home), *(claude_line(number) for number in range(1, 60)))
    synced(home, archive)
    index = archive / "index.db"
    for left in archive.glob("index.db-*"):
        left.unlink()
    if damage == "missing":
        index.unlink()
    elif damage == "garbage":
        index.write_bytes(b"garbage" * 1000)
    elif damage == "cut":
        index.write_bytes(index.read_bytes()[: 1 << 14])
    else:
        data = bytearray(index.read_bytes())
        data[60:64] = (1 if damage == "older" else 1000).to_bytes(4, "big")  # SQLite's user_version
        index.write_bytes(data)
    report, found = told(steno, code=1)
    words = {"older": "run: steno sync", "newer": "update"}.get(damage, "run: steno sync --rebuild")
    assert words in found["index"]
    assert report["archive"]["is_there"]
    assert not report["archive"]["is_readable"]
    assert agent(report, "claude")["files_seen"] == 1
    assert report["archive"]["kept_bytes"] > 0


def test_a_torn_journal_needs_a_person(steno: Steno, archive: Path) -> None:
    """One that is being written does not; the command that is named mends it."""
    live = Recorder(archive)
    live.record("system.event", {"subtype": "x"})
    torn = Recorder(archive)
    torn.record("system.event", {"subtype": "x"})
    torn.close()
    try:
        for path in (live.path, torn.path):
            with path.open("ab") as file:
                file.write(b'{"seq":')
        report, found = told(steno, code=1)
        (journals,) = report["journals"]
        assert (journals["journals"], journals["being_written"], journals["torn"]) == (2, 1, [str(torn.path)])
        command = found["torn_journal"].partition("run: steno ")[2].split()
        assert steno(*command).code == 0
        report, found = told(steno, code=0)
        assert "torn_journal" not in found
    finally:
        live.close()


def settings_of(home: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = home / ".claude" / "settings.json"
    settings = json.loads(path.read_text("utf-8"))
    change(settings)
    path.write_text(json.dumps(settings), "utf-8")


def test_hooks_that_work_are_told(steno: Steno, home: Path) -> None:
    """As `steno install` makes them; without any, nobody is asked for."""
    assert told(steno, code=0)[0]["hooks"][0]["installed"] == []
    assert steno("install", "claude").code == 0
    report, found = told(steno, code=0)
    assert "SessionStart" in report["hooks"][0]["installed"]
    assert (report["hooks"][0]["missing"], "hooks" in found) == ([], False)


@pytest.mark.parametrize("trouble", ["a hook is gone", "the program is gone", "all are disabled", "no JSON"])
def test_hooks_that_do_not_work_need_a_person(steno: Steno, home: Path, trouble: str) -> None:
    """Each with what is wrong, and with the command that mends it where one does."""
    assert steno("install", "claude").code == 0
    path = home / ".claude" / "settings.json"
    if trouble == "a hook is gone":
        settings_of(home, lambda settings: settings["hooks"].pop("SessionStart"))
        words = "hooks are missing or of an older version: SessionStart; run: steno install claude"
    elif trouble == "the program is gone":
        text = path.read_text("utf-8")
        path.write_text(text.replace(str(Path(sys.executable).parent), "/nowhere"), "utf-8")
        words = "which does not exist any more; run: steno install claude"
    elif trouble == "all are disabled":
        settings_of(home, lambda settings: settings.update(disableAllHooks=True))
        words = "`disableAllHooks` in the settings turns them off"
    else:
        path.write_text("{", "utf-8")
        words = "it is not JSON"
    _, found = told(steno, code=1)
    assert words in found["hooks"]


def test_what_hooks_could_not_record_needs_a_person(steno: Steno, archive: Path) -> None:
    """Problems of the last days; older ones were read by somebody, or nobody cares."""
    log = archive / "collectors" / "problems.log"
    log.parent.mkdir(parents=True, mode=0o700)
    log.touch(mode=0o600)
    archive.chmod(0o700)
    log.write_text("2020-01-01T00:00:00Z 1 long ago\n", "utf-8")
    told(steno, code=0)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    log.write_text(f"2020-01-01T00:00:00Z 1 long ago\n{now} 2 the disk is full\n", "utf-8")
    report, found = told(steno, code=1)
    assert "1 problems of recording in the last days" in found["problems_log"]
    assert f"the disk is full; read {log}, then delete it" in found["problems_log"]
    assert report["problems"][-1].endswith("the disk is full")


def test_little_space_needs_a_person(steno: Steno, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the archive is, or will be."""
    usage = namedtuple("usage", "total used free")  # as the standard library has it
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1 << 40, 1 << 40, 50 << 20))
    assert told(steno, code=1)[1]["disk"] == f"only 50 MiB are free where {archive} is; make room"


def test_a_folder_that_may_not_be_read_is_named(
    steno: Steno, home: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And everything else is looked at."""
    written(session_path(home), claude_line(1))
    closed = session_path(home).parent.with_name("closed")
    closed.mkdir()
    scandir = os.scandir

    def refusing(path: Any) -> Any:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    report, found = told(steno, code=1)
    assert found["unreadable"] == f"cannot look at {closed}: Permission denied; check its permissions"
    assert agent(report, "claude")["files_seen"] == 1


def test_nothing_is_changed(steno: Steno, home: Path, archive: Path) -> None:
    """Every file is as it was, with its time; SQLite's own helpers aside."""
    written(session_path(home), claude_line(1))
    synced(home, archive)

    def everything() -> dict[str, tuple[int, int]]:
        found = [path for path in home.parent.rglob("*") if not path.name.endswith(("-wal", "-shm"))]
        return {str(path): (path.stat().st_mode, path.stat().st_mtime_ns) for path in found if path.is_file()}

    before = everything()
    told(steno, code=0)
    assert everything() == before


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("gptme", (".local/share/gptme/logs/a/events.jsonl", ".local/share/gptme/logs/a/lesson-emissions.jsonl")),
        ("kimi-cli", (".kimi/sessions/p/s/context.jsonl", ".kimi/sessions/p/s/subagents/a/meta.json")),
    ],
)
def test_files_that_an_agent_keeps_for_itself_are_not_missed(
    steno: Steno, home: Path, archive: Path, name: str, files: tuple[str, ...]
) -> None:
    """They are beside the transcripts of a known agent and named like them; another such file is counted."""
    for each in (*files, f"{files[0].rpartition('/')[0]}/other.jsonl"):
        written(home / each, b'{"kind": "a state of its own"}\n')
    synced(home, archive)
    report, _ = told(steno, code=0)
    assert (agent(report, name)["files_seen"], agent(report, name)["files_skipped"]) == (1, 1)
