"""Real agents ask for their history: `steno install … --mcp`, then a session whose model calls every tool."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agents import programs, session
from agents.reading import read
from agents.servers.script import Call, Scripts, Text, mark
from agents.session import PATIENCE, Session
from archive_cases import SESSION, claude_line, session_path, synced, written
from stenograph import open_archive
from stenograph.archive.index.words import event_text

pytestmark = [pytest.mark.agents, pytest.mark.timeout(1800)]  # the first test installs the programs

PROMPT = f"What did we do to the parser, uniquewordofnow? {mark('history')}"
OLD = "please fix the parser, uniquewordofthen"
TOOLS = {
    "search_history": {"query": "uniquewordofthen OR uniquewordofnow"},
    "list_runs": {},
    "read_run": {"run": SESSION},
    "run_stats": {"run": SESSION},
    "find_file": {"path": "stats.py"},
}
STENO = [sys.executable, "-m", "stenograph"]


def _scripts(shell: Call) -> Scripts:
    calls = [[Call(f"mcp__stenograph__{name}", given)] for name, given in TOOLS.items()]
    return {"history": [[Text("First a sync."), shell], *calls, [Text("It was fixed.")]]}


def _prepare(found: Session, agent: str, settings: Path) -> str:
    """An archive with an older session of the same folder, the server registered; the command that syncs."""
    archive = found.place / "archive"
    older = found.place / "older"
    path = written(
        session_path(older),
        claude_line(1, text=OLD, cwd=str(found.folder)),
        claude_line(2, "assistant", "It is fixed.", cwd=str(found.folder)),
    )
    os.utime(path, (1, 1))
    synced(older, archive)
    environment = {**found.environment, "STENOGRAPH_HOME": str(archive)}
    command = [*STENO, "install", agent, "--mcp", "--settings", str(settings)]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=PATIENCE)
    return shlex.join([*STENO, "sync", "--archive", str(archive), "--path", str(found.transcripts)])


def _check(found: Session) -> None:
    """Each tool answered; the older session is in the answers, the one that asks is not."""
    reading = read(found.transcripts)
    answers = {}
    for pair in reading.calls():
        name = pair.name.rpartition("__")[2]
        if name in TOOLS:
            assert pair.error is None, pair.error
            assert pair.result is not None
            answers[name] = event_text(pair.result)
    assert set(answers) == set(TOOLS)
    assert "uniquewordofthen" in answers["search_history"]
    assert "uniquewordofthen" in answers["read_run"]
    assert SESSION in answers["list_runs"]
    run_id = found.main_file_of(PROMPT).stem[-36:]
    assert not any("uniquewordofnow" in answer or run_id in answer for answer in answers.values())
    with open_archive(found.place / "archive") as archive:
        assert run_id in {run.run_id for run in archive.runs()}, "the session that asks was not in the archive"


def test_claude_code_asks_for_its_history(place: Path) -> None:
    """The newest Claude Code finds the server, calls every tool, and never finds itself."""
    with session.claude(programs.CLAUDE[0], place) as found:
        sync = _prepare(found, "claude", found.home / ".claude.json")
        found.model.play(_scripts(Call("Bash", {"command": sync, "description": "Sync"})))
        tools = ",".join(["Bash", *(f"mcp__stenograph__{name}" for name in TOOLS)])
        found.run(PROMPT, "--allowedTools", tools, "--")
    _check(found)


def test_codex_asks_for_its_history(place: Path) -> None:
    """The newest Codex does so, too."""
    with session.codex(programs.CODEX[0], place) as found:
        sync = _prepare(found, "codex", found.home / "config.toml")
        found.model.play(_scripts(Call("shell", {"command": sync})))
        limits = [f"mcp_servers.stenograph.{name}_timeout_sec={PATIENCE}" for name in ("startup", "tool")]
        found.run(PROMPT, *(word for limit in limits for word in ("-c", limit)))
    _check(found)
