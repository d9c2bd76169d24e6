"""Options that commands share mean the same in all of them: `--csv`, and those that select runs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive_cases import SESSION, claude_line, session_path, synced, written
from stenograph.archive.marks import MarkChange, add_mark

Steno = Callable[..., Any]
OTHER = "11111111-2222-4333-8444-555555555555"
KEY = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive with two sessions, of which one is tagged."""
    edit = {"type": "tool_use", "id": "toolu_9", "name": "Write", "input": {"file_path": "/p/a,b.py", "content": "x\n"}}
    written(
        session_path(tmp_path / "home"),
        claude_line(1, "user", 'walrus, "quoted"\nand more'),
        claude_line(2, "assistant", "walrus"),
        claude_line(3, "call", "false"),
        claude_line(5, "call", message={"id": "msg_9", "role": "assistant", "model": "claude-x", "content": [edit]}),
        claude_line(4, "result", "broken", toolUseResult="Error: broken"),
    )
    at = "2026-03-01T12:00:00.000Z"
    written(
        session_path(tmp_path / "home", OTHER),
        claude_line(6, "user", f"walrus with {KEY}", OTHER),
        claude_line(7, "assistant", "I see.", OTHER, timestamp=at),
    )
    folder = tmp_path / "archive"
    synced(tmp_path / "home", folder)
    add_mark(folder, MarkChange(run_id=SESSION, tags=("perf",)))
    monkeypatch.setenv("STENOGRAPH_HOME", str(folder))
    return folder


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("ls",), None),
        (("ps",), None),
        (("search", "walrus"), None),
        (("stats", "--by", "run"), "rows"),
        (("stats", "--by", "tool", "--limit", "1"), "rows"),
        (("errors", SESSION), None),
        (("files", SESSION), None),
        (("blame", "/p/a,b.py"), "changes"),
        (("ls", "--project", "nonexistent"), None),
    ],
)
def test_csv_has_the_fields_of_json(steno: Steno, archive: Path, words: tuple[str, ...], name: str | None) -> None:
    """A line for each object, with the same values; also where there is none, the names of the fields."""
    document = steno(*words, "--json").json
    objects = document if name is None else document[name]
    head, *lines = csv.reader(io.StringIO(steno(*words, "--csv").out))
    assert len(set(head)) == len(head) > 1
    assert [dict(zip(head, line, strict=True)) for line in lines] == [
        {field: _cell(value) for field, value in each.items()} for each in objects
    ]


def _cell(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return "" if value is None else str(value)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("ls",), "run_id"),
        (("search", "walrus"), "run_id"),
        (("stats", "--by", "run"), "run"),
        (("secrets",), "run_id"),
    ],
)
def test_a_tag_selects_runs(steno: Steno, archive: Path, words: tuple[str, ...], field: str) -> None:
    """In every command that selects runs; a tag that no run has selects none."""

    def found(*options: str) -> set[str]:
        document = steno(*words, *options, "--json").json
        return {each[field] for each in (document["rows"] if isinstance(document, dict) else document)}

    everything = found("--all") if words == ("secrets",) else found()
    assert found("--tag", "perf") == everything & {SESSION}
    assert everything != found("--tag", "perf")
    assert found("--tag", "other") == found("--starred") == set()


def test_rules_are_checked_for_runs_with_a_tag(steno: Steno, archive: Path) -> None:
    """One of the two runs has it."""
    assert steno("check", "--builtin", "all", "--json").json["runs"] == 2
    assert steno("check", "--builtin", "all", "--tag", "perf", "--json").json["runs"] == 1


def test_a_limit_of_sums_is_reported(steno: Steno, archive: Path) -> None:
    """The newest times, or the largest rows; totals stay whole."""
    whole, some = steno("stats", "--by", "run", "--json"), steno("stats", "--by", "run", "--limit", "1", "--json")
    assert some.json == {**whole.json, "rows": whole.json["rows"][:1]}
    assert some.err == "steno: 1 of 2 rows, --limit 0 for all; totals are of all\n"
    hours = steno("stats", "--by", "hour", "--json").json["rows"]
    assert len(hours) == 2
    assert steno("stats", "--by", "hour", "--limit", "1", "--json").json["rows"] == hours[1:]
    assert "of 2 rows" not in steno("stats", "--by", "run", "--limit", "2").err
