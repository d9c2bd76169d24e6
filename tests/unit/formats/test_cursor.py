"""Cursor's transcripts: what stands around a prompt, and where the files are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from golden_cases import FOLDER
from stenograph.cli.program import cli
from stenograph.formats.cursor.words import prompt_in, time_in


@pytest.mark.parametrize(
    ("told", "time"),
    [
        ("Sunday, July 5, 2026, 2:40 PM (UTC+2)", "2026-07-05T14:40:00+02:00"),
        ("Monday, Dec 1, 2025, 12:05 AM (UTC-3:30)", "2025-12-01T00:05:00-03:30"),
        ("Friday, May 1, 2026, 12:00 PM (UTC)", "2026-05-01T12:00:00+00:00"),
        ("Friday, May 32, 2026, 12:00 PM (UTC)", None),
        ("Freitag, Mai 1, 2026, 12:00 PM (UTC)", None),
        ("yesterday", None),
    ],
)
def test_a_time_in_words_is_a_time(told: str, time: str | None) -> None:
    """To the minute, with its zone; what no calendar has is none."""
    assert time_in(f"<timestamp>{told}</timestamp>\n<user_query>\nhello\n</user_query>") == time


def test_a_prompt_is_what_the_user_typed() -> None:
    """What stands around it is told apart; a text without a wrapper is all the user's."""
    assert prompt_in("<open_files>a.go</open_files>\n<user_query>\nhello\n\nyou\n</user_query>") == (
        "hello\n\nyou",
        "<open_files>a.go</open_files>",
    )
    assert prompt_in("hello") == ("hello", "")


def test_sessions_are_kept_with_their_subagents(tmp_path: Path) -> None:
    """From the place where Cursor keeps them, each once."""
    shutil.copytree(FOLDER / "cursor" / "subagent" / "input", tmp_path / ".cursor")
    archive = ["--archive", str(tmp_path / "archive")]
    run = CliRunner()
    assert run.invoke(cli, ["sync", "--home", str(tmp_path), "--agent", "cursor", *archive]).exit_code == 0
    (listed,) = json.loads(run.invoke(cli, ["ls", "--json", *archive]).stdout)
    assert (listed["agent"], listed["subagents"], listed["tool_calls"]) == ("cursor", 1, 5)
