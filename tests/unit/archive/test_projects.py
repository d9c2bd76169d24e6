"""The folder that a run worked in, whichever agent it was."""

from __future__ import annotations

import json
import sqlite3
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, THREAD, rows, session_path, synced, thread_path, written
from opencode_database import create_tables, insert
from stenograph.adapters.commands.command_recording import CommandRecording
from stenograph.adapters.commands.output import Output
from stenograph.cli import main

AT = "2026-11-15T19:13:00.000Z"


def _line(**record: Any) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _agents(home: Path, folder: str) -> None:
    """A session of each agent, in the same folder."""
    said = {"role": "user", "content": "Hello."}
    written(
        session_path(home),
        _line(type="user", sessionId="s", cwd=folder, version="2.1.325", gitBranch="b", message=said),
    )
    meta = {"id": "01a1e09d-ef9a-7e03-8034-047c5e8997b2", "cwd": folder, "cli_version": "0.166.0"}
    written(thread_path(home), _line(timestamp=AT, type="session_meta", payload=meta))
    session = "5fad63ac-fb72-4149-8b2c-adad10323ba2"
    begun = {"sessionId": session, "context": {"cwd": folder, "branch": "b"}}
    copilot = home / ".copilot" / "session-state" / session / "events.jsonl"
    written(copilot, _line(type="session.start", data=begun, timestamp=AT, id="1", parentId=None))
    header = {
        "sessionId": "1c5e5105-b458-494c-b098-0a0e142cf399",
        "projectHash": "0",
        "startTime": AT,
        "lastUpdated": AT,
    }
    context = f"<session_context>\n- **Workspace Directories:**\n  - {folder}\n</session_context>"
    message = {"id": "m", "timestamp": AT, "type": "user", "content": [{"text": context}]}
    gemini = home / ".gemini" / "tmp" / "p" / "chats" / "session-2026-11-15T19-11-1c5e5105.jsonl"
    written(gemini, _line(**header), _line(**{"$set": {"messages": [message], "lastUpdated": AT}}))
    database = home / ".local" / "share" / "opencode" / "opencode.db"
    database.parent.mkdir(parents=True)
    connection = sqlite3.connect(database)
    create_tables(connection)
    insert(connection, {"table": "session", "id": "ses_1", "directory": folder, "title": "t", "version": "1.18.33"})
    connection.commit()
    connection.close()


def test_a_folder_finds_the_runs_of_every_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--project .` finds Claude, Codex, Copilot, Gemini, OpenCode and a command under `steno run`."""
    home, archive, folder = tmp_path / "home", tmp_path / "archive", tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    _agents(home, str(folder))
    recording = CommandRecording(
        [sys.executable, "-V"], archive, Output(), is_copied=False, began=datetime.now(UTC), known=lambda _: None
    )
    recording.start()
    recording.finish(0)
    assert recording.problems == []
    synced(home, archive)
    agents = ["claude", "codex", "copilot", "gemini", "opencode", "stenograph"]
    assert [
        agent for (agent,) in rows(archive, "SELECT agent FROM runs WHERE cwd = ? ORDER BY agent", str(folder))
    ] == agents
    branches = rows(archive, "SELECT agent FROM runs WHERE branch = 'b' ORDER BY agent")
    assert branches == [("claude",), ("copilot",)]
    monkeypatch.setenv("STENOGRAPH_HOME", str(archive))
    monkeypatch.setattr(sys, "argv", ["steno", "ls", "--json", "--project", "."])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    listed = json.loads(capsys.readouterr().out)
    assert sorted(run["agent"] for run in listed) == agents


@pytest.mark.parametrize("rebuilds", [False, True])
def test_a_session_that_was_synced_as_it_began_has_its_folder(rebuilds: bool, tmp_path: Path) -> None:
    """The first line of a Claude Code session names no folder, and the first of a Codex thread no model."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    queued = _line(type="queue-operation", operation="enqueue", timestamp=AT, sessionId=SESSION, content="Hello.")
    meta = {"id": THREAD, "cwd": "/home/user/shop", "cli_version": "0.166.0"}
    written(session_path(home), queued)
    written(thread_path(home), _line(timestamp=AT, type="session_meta", payload=meta))
    synced(home, archive)
    said = {"role": "user", "content": "Hello."}
    about = {"cwd": "/home/user/shop", "version": "2.1.325", "gitBranch": "main"}
    written(session_path(home), _line(type="user", sessionId=SESSION, timestamp=AT, **about, message=said))
    turn = {"cwd": "/home/user/shop", "model": "gpt-5.5"}
    written(thread_path(home), _line(timestamp=AT, type="turn_context", payload=turn))
    synced(home, archive)
    if rebuilds:
        synced(home, archive, rebuild=True)
    query = "SELECT agent, cwd, project, agent_version, branch, model FROM runs ORDER BY agent"
    assert rows(archive, query) == [
        ("claude", "/home/user/shop", "shop", "2.1.325", "main", None),
        ("codex", "/home/user/shop", "shop", "0.166.0", None, "gpt-5.5"),
    ]
