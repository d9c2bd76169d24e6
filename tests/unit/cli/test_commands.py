"""What all commands share: help, usage errors, exit codes, one-line errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from stenograph import Recorder, __version__
from stenograph.cli import COMMANDS, HIDDEN
from stenograph.cli.program import cli

ON_RUNS = ["show", "tail", "tree", "verify", "repair"]


def test_every_command_has_a_module() -> None:
    """Of the same name; shell completion shows the same help as the list of commands."""
    for name, summary in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.name == name
        assert command.get_short_help_str(200) == summary


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_has_an_example(steno: Any, name: str, option: str) -> None:
    """Each command's help shows how it is called, and every option says what it does."""
    shown = steno(name, option)
    assert (shown.code, shown.err) == (0, "")
    assert f"Example: steno {name}" in shown.out
    assert "Usage: " in shown.out


def test_help_lists_every_command(steno: Any) -> None:
    """With what it does, and the exit codes."""
    shown = steno("--help")
    assert shown.code == 0
    for name, summary in COMMANDS.items():
        assert name in HIDDEN or (name in shown.out and summary.split()[0] in shown.out)
    assert "Exit codes: 0 ok, 1 problems found, 2 usage, 3 cannot read, 4 cannot write." in shown.out


def test_version(steno: Any) -> None:
    """One line."""
    assert steno("--version").out == f"steno {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["show"],
        ["show", "a", "b"],
        ["show", "a", "--as", "nonsense"],
        ["show", "a", "--nonsense"],
        ["tail", "a", "--from", "0"],
        ["tail", "a", "--from", "x"],
        ["tail", "a", "-n", "0"],
        ["tail", "a", "-f", "-n", "3"],
        ["tree"],
        ["verify"],
        ["repair"],
        ["repair", "a", "b"],
        ["demo", "--pace", "-1"],
        ["demo", "extra"],
    ],
)
def test_wrong_usage_is_exit_code_2(steno: Any, arguments: list[str]) -> None:
    """It is said on stderr, with a hint, and nothing is printed."""
    ended = steno(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert "Usage: " in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", ON_RUNS)
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("550e", "no file and no run '550e'"),
        ("/no/such/file.jsonl", "no file and no run"),
        ("x" * 5000, "File name too long"),
    ],
)
def test_what_is_not_there_is_exit_code_3(steno: Any, root: Path, name: str, target: str, message: str) -> None:
    """One line on stderr."""
    ended = steno(name, target, "--root", root)
    assert ended.code == 3
    assert ended.err.startswith("steno: ")
    assert message in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("name", ON_RUNS)
def test_a_folder_without_a_run_is_exit_code_3(steno: Any, tmp_path: Path, name: str) -> None:
    """There is nothing in it that some format knows."""
    ended = steno(name, tmp_path)
    assert ended.code == 3
    assert ended.err == f"steno: no file below {tmp_path} is in a format we know; steno formats lists them\n"


@pytest.mark.parametrize("name", ON_RUNS)
def test_a_unique_prefix_is_enough(steno: Any, root: Path, name: str, recorded: Any) -> None:
    """A run is named by as much of its id as needed."""
    run, child = recorded
    shortest = next(length for length in range(1, 37) if not child.run_id.startswith(run.run_id[:length]))
    prefix = run.run_id[:shortest]
    ended = steno(name, prefix, "--root", root)
    assert ended.code == 0, ended.err
    assert ended.out


@pytest.mark.parametrize("name", ON_RUNS)
def test_an_ambiguous_prefix_is_exit_code_3(steno: Any, root: Path, name: str) -> None:
    """The runs that it fits are named."""
    for end in "01":
        Recorder(root, run_id=f"550e8400-e29b-41d4-a716-44665544000{end}").close()
    ended = steno(name, "550E", "--root", root)
    assert ended.code == 3
    ids = "550e8400-e29b-41d4-a716-446655440000, 550e8400-e29b-41d4-a716-446655440001"
    assert f"550E matches 2 runs ({ids})" in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("name", ON_RUNS)
def test_runs_are_looked_up_in_the_environments_root(
    steno: Any, root: Path, name: str, recorded: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`STENOGRAPH_STORAGE`, or ./storage."""
    run, _ = recorded
    monkeypatch.setenv("STENOGRAPH_STORAGE", str(root))
    assert steno(name, run.run_id).code == 0
    monkeypatch.delenv("STENOGRAPH_STORAGE")
    assert steno(name, run.run_id).code == 3
    monkeypatch.chdir(tmp_path)
    assert steno(name, run.run_id).code == 0


def test_an_error_of_the_output_is_one_line(root: Path, recorded: Any) -> None:
    """A full disk behind `>`: exit code 4, no traceback."""
    import subprocess
    import sys

    run, _ = recorded
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "stenograph", "show", str(run.path)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 4
    assert done.stderr == "steno: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("words", ["config", "--help", "ls --help", "--version", ""])
@pytest.mark.parametrize(("way", "why"), [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")])
def test_an_output_that_is_closed_or_full_is_one_line_for_every_command(words: str, way: str, why: str) -> None:
    """Also for what click prints by itself, and where Python has no standard output at all."""
    import subprocess
    import sys

    command = ["sh", "-c", f'"$0" -m stenograph {words} {way}', sys.executable]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == f"steno: cannot write the output: {why}\n"


@pytest.mark.parametrize(("words", "code"), [("mcp", 0), ("sql -", 3), ("convert -", 0), ("config 2>&-", 0)])
def test_a_closed_input_is_an_empty_one(words: str, code: int, tmp_path: Path) -> None:
    """And what is said on a closed standard error is dropped."""
    import os
    import subprocess
    import sys

    command = ["sh", "-c", f'"$0" -m stenograph {words} <&-', sys.executable]
    environment = {**os.environ, "STENOGRAPH_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
