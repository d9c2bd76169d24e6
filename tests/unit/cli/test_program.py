"""The command line as a whole: groups, suggestions, and one line for a mistake."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from stenograph.cli import COMMANDS, GROUPS, HIDDEN
from stenograph.cli.program import cli


def test_every_command_is_in_one_group() -> None:
    """Help lists all commands that people type."""
    listed = [name for names in GROUPS.values() for name in names]
    assert len(listed) == len(set(listed))
    assert set(COMMANDS) <= {*listed, *HIDDEN}


def test_steno_alone_shows_the_groups_and_one_next_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A newcomer sees what there is, and what to type."""
    monkeypatch.setenv("STENOGRAPH_HOME", str(tmp_path))
    before = CliRunner().invoke(cli, [])
    assert before.exit_code == 0
    assert all(group in before.output for group in GROUPS)
    assert all(name in before.output.split() for name in COMMANDS if name not in HIDDEN)
    assert "Next: steno sync" in before.output
    (tmp_path / "index.db").touch()
    assert "Next: steno ls" in CliRunner().invoke(cli, []).output


def test_help_lists_commands_by_group_and_hides_the_hook() -> None:
    """`hook` is for agents."""
    text = CliRunner().invoke(cli, ["--help"]).output
    assert [line for line in text.splitlines() if line.rstrip(":") in GROUPS] == [f"{group}:" for group in GROUPS]
    assert "\n  hook" not in text


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["lst"], "did you mean ls"),
        (["serach"], "did you mean search"),
        (["ls", "--agnt", "x"], "--agent"),
        (["zzzz"], "steno --help lists the commands"),
    ],
)
def test_a_mistyped_command_or_option_suggests_the_nearest(words: list[str], hint: str) -> None:
    """One line, exit code 2."""
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 2
    assert hint in result.output


def test_what_was_typed_is_shown_and_not_obeyed() -> None:
    """The errors of click hold what was typed, too."""
    for words in (["\x1b[2J\x9b"], ["ls", "--\x1b[2J"], ["show", "\x1b]52;c;x\x07"], ["stats", "--by", "\x1b[2J"]):
        done = subprocess.run(
            [sys.executable, "-m", "stenograph", *words], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode in (2, 3)
        assert "\x1b" not in done.stderr
        assert "\x07" not in done.stderr
