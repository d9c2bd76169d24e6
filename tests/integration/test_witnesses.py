"""Sessions that were recorded in part, resumed without us and synced: the archive has what the agent's files have."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from here import SHEBANG
from opencode_database import create_tables, insert
from stenograph.adapters.following.collection import SessionCollection
from stenograph.cli.program import cli
from stenograph.formats.base import Identity
from stenograph.sources.detection import Detection, detect_file

PATIENCE = 60
GOLDEN = Path(__file__).parents[1] / "golden"
STUB = """
import sys
from pathlib import Path
lines = Path(sys.argv[1]).read_bytes().splitlines(keepends=True)
first, last = int(sys.argv[3]), int(sys.argv[4])
session = Path(sys.argv[2])
session.parent.mkdir(parents=True, exist_ok=True)
with session.open("ab") as file:
    file.writelines(lines[first:last])
"""
"""An agent that does the next part of a session: FROM SESSION FIRST LAST."""


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home and an archive of its own, and an agent in the path."""
    for name in ("home", "work", "bin"):
        (tmp_path / name).mkdir()
    for name in ("claude", "codex"):
        program = tmp_path / "bin" / name
        program.write_text(SHEBANG + STUB, "utf-8")
        program.chmod(0o755)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "STENOGRAPH_STORAGE", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)


def _steno(*command: str, archive: Path | None = None) -> str:
    full = [sys.executable, "-W", "error", "-m", "stenograph", *command]
    places = os.environ | ({} if archive is None else {"STENOGRAPH_HOME": str(archive)})
    done = subprocess.run(full, capture_output=True, timeout=PATIENCE, text=True, env=places)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _asked(*command: str, archive: Path | None = None) -> str:
    """What a command that only reads prints, asked here: a process for each is most of what they take."""
    done = CliRunner().invoke(cli, command, env={} if archive is None else {"STENOGRAPH_HOME": str(archive)})
    assert done.exit_code == 0, done.stderr
    return done.stdout


def _runs(*options: str, archive: Path | None = None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_asked("ls", "--json", *options, archive=archive))
    return found


def _told(archive: Path | None = None) -> list[Any]:
    """What `ls`, `stats` and `show` say of everything there is."""
    runs = _runs(archive=archive)
    shown = [_asked("show", run["run_id"], "--json", archive=archive) for run in runs]
    tools = _asked("stats", "--by", "tool", "--json", archive=archive)
    for run in runs:
        run.pop("archive_id", None)
    return [runs, [[_fact(event) for event in json.loads(each)] for each in shown], tools]


def _fact(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in ("seq", "raw", "raw_b64")}


def _session(agent: str) -> tuple[Path, Path, int]:
    """A session as if it were of the current folder, where its agent keeps it, and how many lines it has."""
    case = "claude_code/2.1.325-compact" if agent == "claude" else "codex_rollout/tools"
    data = (GOLDEN / case / "input.jsonl").read_bytes()
    records = [json.loads(line) for line in data.splitlines()]
    facts = [record if agent == "claude" else record.get("payload", {}) for record in records]
    folder = next(fact["cwd"] for fact in facts if fact.get("cwd"))
    source = Path.cwd() / "session.jsonl"
    source.write_bytes(data.replace(json.dumps(folder).encode(), json.dumps(str(Path.cwd())).encode()))
    native_id = next(fact[key] for fact in facts for key in ("sessionId", "id") if fact.get(key))
    places = {
        "claude": Path(".claude", "projects", "-work", f"{native_id}.jsonl"),
        "codex": Path(".codex", "sessions", "2026", "11", "15", f"rollout-2026-11-15T19-10-09-{native_id}.jsonl"),
    }
    return source, Path.home() / places[agent], len(records)


def _recorded(session: Detection, root: Path) -> None:
    """What `steno run` does at the end of a session that is in a database."""
    collection = SessionCollection(session, root)
    collection.finish()
    collection.close()


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize("recorded", ["run", "collect"])
def test_a_session_that_went_on_without_us_is_whole(tmp_path: Path, agent: str, recorded: str) -> None:
    """`steno run` or `steno collect` of the first part, the rest without us, then a sync: all of it, by its agent."""
    source, session, lines = _session(agent)
    part = lines // 3
    stub = [agent, str(source), str(session)]
    if recorded == "run":
        _steno("run", "--", *stub, "0", str(part))
    else:
        subprocess.run([*stub, "0", str(part)], check=True, timeout=PATIENCE)
        _steno("collect", str(session), "--idle", "0")
    assert list((tmp_path / "archive" / "transcripts").glob("*.jsonl"))
    subprocess.run([*stub, str(part), str(lines)], check=True, timeout=PATIENCE)
    _steno("sync")
    alone = tmp_path / "alone"
    _steno("sync", archive=alone)
    assert _told() == _told(alone)
    assert [run["agent"] for run in _runs()] == [agent]
    _steno("sync", "--rebuild")
    assert _told() == _told(alone)


def test_a_journal_that_was_synced_before_the_rest_came_right(tmp_path: Path) -> None:
    """An archive that knew the journal alone has the whole session after the next sync, and keeps its numbers."""
    source, session, lines = _session("claude")
    subprocess.run(["claude", str(source), str(session), "0", "12"], check=True, timeout=PATIENCE)
    _steno("collect", str(session), "--idle", "0")
    _steno("sync", "--agent", "stenograph")
    (before,) = _runs()
    assert before["agent"] == "claude"
    subprocess.run(["claude", str(source), str(session), "12", str(lines)], check=True, timeout=PATIENCE)
    _steno("sync")
    alone = tmp_path / "alone"
    _steno("sync", archive=alone)
    assert _told() == _told(alone)


def test_an_opencode_session_is_opencode_s_with_and_without_its_database(tmp_path: Path) -> None:
    """A session that was recorded and is in the database, too, is there once; without the database it is there, too."""
    database = Path.home() / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    with closing(sqlite3.connect(database)) as connection:
        create_tables(connection)
        rows = [json.loads(line) for line in (GOLDEN / "opencode" / "tools" / "input.jsonl").read_bytes().splitlines()]
        for row in rows:
            insert(connection, row)
        connection.commit()
    native_id = next(row["id"] for row in rows if row["table"] == "session")
    found = detect_file(database)
    _recorded(replace(found, identity=Identity(native_id=native_id)), tmp_path / "archive")
    _steno("sync")
    alone = tmp_path / "alone"
    _steno("sync", archive=alone)
    assert _told() == _told(alone)
    assert len(_runs("--agent", "opencode")) == len(_runs()) == 1
    database.unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "archive" / "transcripts").rename(elsewhere / "transcripts")
    _steno("sync", archive=elsewhere)
    assert len(_runs("--agent", "opencode", archive=elsewhere)) == 1
