"""Nothing is cut in silence: lists say how many there are, and empty ones what was looked through."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive_cases import claude_line, session_path, synced, written
from stenograph.archive.keep.walk import NOT_REGULAR

Steno = Callable[..., Any]
NUMBER = 30


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with one session of many lines, and its archive."""
    lines = [claude_line(number, "user", f"walrus number {number}") for number in range(1, NUMBER + 1)]
    written(session_path(tmp_path / "home"), *lines)
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path / "archive"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    synced(tmp_path / "home", tmp_path / "archive")
    return tmp_path / "home"


@pytest.mark.parametrize("more", [(), ("--json",), ("--role", "user"), ("--rank", "--since", "2026-01-01")])
def test_search_says_how_many_there_are(steno: Steno, home: Path, more: tuple[str, ...]) -> None:
    """On standard error, also for programs; and nothing when all are shown."""
    found = steno("search", "walrus", *more)
    assert found.err == f"steno: 20 of {NUMBER}, --limit 0 for all\n"
    assert "--json" not in more or len(found.json) == 20
    whole = steno("search", "walrus", "--limit", "0", *more)
    assert whole.err == ""
    assert whole.out.count("walrus") == NUMBER
    assert steno("search", "walrus", "--limit", str(NUMBER), *more).err == ""


def test_empty_results_say_what_was_looked_through(steno: Steno, home: Path, tmp_path: Path) -> None:
    """A search, a list and a sum."""
    archive = tmp_path / "archive"
    searched = steno("search", "zebra")
    assert (searched.code, searched.err) == (1, f"steno: nothing found in {NUMBER} events of 1 run of {archive}\n")
    for option in (("--project", "nonexistent"), ("--errors",), ("--role", "tool")):
        part = f"the selected part of {NUMBER} events of 1 run"
        assert steno("search", "walrus", *option).err == f"steno: nothing found in {part} of {archive}\n"
    listed = steno("ls", "--project", "nonexistent")
    assert (listed.code, listed.out) == (0, "")
    assert listed.err == f"steno: none of the 1 run of {archive} matches\n"
    assert steno("ls", "--project", "nonexistent", "--json").json == []
    assert f"no run of {archive} matches" in steno("stats", "--project", "nonexistent").err


@pytest.mark.parametrize("command", [("ls",), ("stats",), ("search", "walrus")])
@pytest.mark.parametrize(("name", "hint"), [("cluade", "did you mean claude"), ("zzzz", "known agents: acp, ")])
def test_an_unknown_agent_suggests_the_nearest(
    steno: Steno, home: Path, command: tuple[str, ...], name: str, hint: str
) -> None:
    """Wrong usage, and not an empty list."""
    refused = steno(*command, "--agent", name)
    assert refused.code == 2
    assert refused.err.startswith(f"steno: unknown agent {name!r}; ")
    assert hint in refused.err


def test_sync_suggests_the_nearest_agent(steno: Steno, home: Path) -> None:
    """The same line as everywhere."""
    refused = steno("sync", "--agent", "cluade")
    assert refused.code == 2
    assert refused.err.startswith("steno: unknown agent 'cluade'; did you mean claude? known agents: ")


@pytest.mark.parametrize("name", ["claude", "claud", "claude_code", "claude-code", "gemini", "codex_rollout"])
def test_known_agents_and_their_beginnings_are_asked_for(steno: Steno, home: Path, name: str) -> None:
    """Also those of which the archive has no run."""
    assert steno("ls", "--agent", name).code == 0


def test_sync_counts_what_it_leaves_out_with_the_reason(steno: Steno, home: Path) -> None:
    """In the agents' own folders, too; the next time as well."""
    folder = session_path(home).parent
    (folder / "strange.jsonl").write_text("what is this\n")
    (folder / "begun.jsonl").write_text('{"type":"us')
    (folder / "link.jsonl").symlink_to(session_path(home))
    os.mkfifo(folder / "pipe.jsonl")
    for _ in range(2):
        found = steno("sync", "--json").json["left_out"]
        assert found == {"no format knows it": 1, "no whole line yet": 1, NOT_REGULAR: 2}
    assert "4 files were left out: 1 no format knows it; " in steno("sync").out


def test_links_to_folders_are_named_unless_they_lead_inside(steno: Steno, home: Path, tmp_path: Path) -> None:
    """A folder inside is kept at its own place, once; what leads elsewhere is named with what to do."""
    projects = session_path(home).parent.parent
    (projects / "again").symlink_to(session_path(home).parent, target_is_directory=True)
    (projects / "circle").symlink_to(projects, target_is_directory=True)
    written(tmp_path / "outside" / "x.jsonl", claude_line(1, session="0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f1"))
    (projects / "far").symlink_to(tmp_path / "outside", target_is_directory=True)
    told = steno("sync", "--json").json
    assert (told["new"], told["unchanged"], told["failed"]) == (0, 1, 0)
    reason = f"link {projects / 'far'} to {tmp_path / 'outside'}: steno sync --path keeps that"
    assert told["left_out"] == {reason: 1}
    assert steno("sync", "--path", tmp_path / "outside", "--json").json["new"] == 1


def test_a_sync_that_finds_nothing_says_where_it_looked(steno: Steno, tmp_path: Path) -> None:
    """A home without any agent."""
    (tmp_path / "empty").mkdir()
    told = steno("sync", "--home", tmp_path / "empty", "--archive", tmp_path / "other")
    assert told.code == 0
    assert ".claude/projects" in told.err
    assert ".codex/sessions" in told.err
