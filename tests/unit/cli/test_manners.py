"""Manners that all commands share: JSON for programs, `-o -`, progress, one table of exit codes."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.shell_completion import get_completion_class
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_cases import claude_line, written
from stenograph import Run, errors
from stenograph.atomic_file import write_atomically
from stenograph.cli.program import cli
from stenograph.cli.progress import Progress
from stenograph.cli.terminal import width

Steno = Callable[..., Any]
REPO = Path(__file__).parents[3]
NO_DATA = {
    "run": "its output is the command's own",
    "hook": "it prints nothing",
    "mcp": "it speaks JSON to an agent, for as long as that is there",
    "receive": "it prints its address, and takes spans",
    "replay": "its output is the command's own; --report writes JSON",
    "serve": "it prints its address, and serves JSON",
}


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def options_of(command: click.Command) -> set[str]:
    return {spelling for param in command.params for spelling in (*param.opts, *param.secondary_opts)}


def test_every_command_that_prints_data_has_json() -> None:
    """As README says; those that print none are few, and each has its reason."""
    without = {name for name, command in commands(cli) if "--json" not in options_of(command)}
    assert without == set(NO_DATA)


def test_every_output_may_be_standard_output() -> None:
    """Where `-o` names a file, help says that `-` is standard output; a folder cannot be one."""
    for name, command in commands(cli):
        for param in command.params:
            if isinstance(param, click.Option) and "-o" in param.opts and "FILE" in str(param.metavar):
                assert "- is standard output" in (param.help or "") or name == "check", name


def test_a_dash_is_standard_output(steno: Steno, recorded: tuple[Run, Run], root: Path, tmp_path: Path) -> None:
    """And not a file of that name."""
    run = recorded[0].run_id
    shown = steno("show", run, "--root", root, "--as", "json", "-o", "-")
    assert shown.json == steno("show", run, "--root", root, "--json").json
    assert steno("export", run, "--root", root, "--to", "atif", "-o", "-").json
    command = [sys.executable, "-m", "stenograph", "bundle", "create", run, "--root", str(root), "--no-environment"]
    made = subprocess.run([*command, "-o", "-"], capture_output=True, check=True, timeout=60)
    assert any(name.endswith("/manifest.json") for name in zipfile.ZipFile(io.BytesIO(made.stdout)).namelist())
    assert steno("bundle", "create", run, "--root", root, "-o", "-", "--json").code == 2


def test_devices_and_pipes_are_written_to_as_they_are(tmp_path: Path) -> None:
    """`-o /dev/stdout` works, and does not replace the device."""
    write_atomically(Path("/dev/null"), [b"x"])
    assert not Path("/dev/null").is_file()


def test_convert_prints_one_document_when_asked(steno: Steno, tmp_path: Path) -> None:
    """The same events as JSON Lines; of nothing, an empty array."""
    path = written(tmp_path / "x.jsonl", claude_line(1), claude_line(2, "assistant"))
    assert steno("convert", path, "--json").json == steno("convert", path).json_lines
    assert steno("convert", tmp_path / "none", "--json").json == []


@settings(max_examples=60)
@given(st.integers(0, 10**12), st.integers(0, 10**12), st.floats(0, 10**6), st.booleans())
def test_a_progress_line_says_rate_and_time_left(done: int, total: int, seconds: float, in_bytes: bool) -> None:
    """Where the total is known, and some time has gone by; and no longer than a line."""
    progress = Progress("session", in_bytes=in_bytes, total=total, is_shown=False)
    progress.reach(done)
    line = progress.line(seconds)
    assert "session" in line
    assert ("/s" in line) == (seconds >= 1 and done > 0)
    assert (" left" in line) == (seconds >= 1 and total > done > 0)
    assert width(line) < 120


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Hostile names are shown, the line is wiped at the end, and a pipe gets nothing."""
    with Progress("\x1b[2Jevil", total=3) as silent:
        silent.reach(1)
    assert capfd.readouterr().err == ""
    with Progress("\x1b[2Jevil", total=3, is_shown=True) as shown:
        shown.reach(1, 3)
    told = capfd.readouterr().err
    assert "\x1b" not in told
    assert "evil 1 of 3" in told
    assert re.search(r"\r +\r$", told)


def test_exit_codes_are_one_table() -> None:
    """Every code that an error of ours has is in it, and every code that a command's page names."""
    page = (REPO / "docs" / "reference" / "errors.md").read_text("utf-8").partition("## Exit codes")[2]
    table = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE) for code in row.split(",")}
    known = {kind.exit_code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "exit_code")}
    assert known <= table
    told = re.findall(r"^Exit codes: (.*(?:\n.+)*)", (REPO / "docs/reference/cli.md").read_text("utf-8"), re.MULTILINE)
    named = {int(code) for line in told for code in re.findall(r"(?:^|, |or )(\d{1,3}) ", line)}
    assert {0, 1, 2, 3, 4, 126, 127} <= named <= table


def test_completion_is_documented_for_three_shells() -> None:
    """Each by the line that click's own completion takes; and those lines print a script."""
    page = (REPO / "docs" / "how-to" / "terminal.md").read_text("utf-8")
    for shell in ("bash", "zsh", "fish"):
        assert f"_STENO_COMPLETE={shell}_source steno" in page
        found = get_completion_class(shell)
        assert found is not None
        assert "_STENO_COMPLETE" in found(cli, {}, "steno", "_STENO_COMPLETE").source() or shell == "bash"


def test_an_extracted_bundle_is_as_it_was_made(
    steno: Steno, recorded: tuple[Run, Run], root: Path, tmp_path: Path
) -> None:
    """The seal, and that the manifest names every file: else it is refused, and nothing is written."""
    path = tmp_path / "b.zip"
    made = ["bundle", "create", recorded[0].run_id, "--root", root, "-o", path, "--no-environment", "--no-page"]
    assert steno(*made).code == 0
    good = steno("bundle", "extract", path, "-o", tmp_path / "good", "--json")
    assert Path(good.json["path"], "manifest.json").is_file()
    with zipfile.ZipFile(path, "a") as archive:
        folder = archive.namelist()[0].partition("/")[0]
        archive.writestr(f"{folder}/extra.txt", "not named")
    refused = steno("bundle", "extract", path, "-o", tmp_path / "bad")
    assert refused.code == 3
    assert "not those that were sealed" in refused.err
    assert not (tmp_path / "bad").exists()
    assert steno("bundle", "extract", path, "-o", tmp_path / "all", "--changed").code == 0


def test_a_sealed_bundle_with_files_that_the_manifest_does_not_name_is_refused(
    steno: Steno, recorded: tuple[Run, Run], root: Path, tmp_path: Path
) -> None:
    """Anybody can seal a zip; what the manifest says of its files must hold all the same."""
    from hashlib import sha256

    from stenograph.bundle.seal import MARK

    path, other = tmp_path / "b.zip", tmp_path / "c.zip"
    steno("bundle", "create", recorded[0].run_id, "--root", root, "-o", path, "--no-environment", "--no-page")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(other, "w") as copy:
        for info in archive.infolist():
            copy.writestr(info, archive.read(info))
        copy.writestr(f"{archive.namelist()[0].partition('/')[0]}/extra.txt", "not named")
        copy.comment = MARK + b"0" * 64
    data = other.read_bytes()[:-64]
    other.write_bytes(data + sha256(data).hexdigest().encode())
    refused = steno("bundle", "extract", other, "-o", tmp_path / "bad")
    assert refused.code == 3
    assert "such as 'extra.txt'" in refused.err
    assert json.loads(steno("bundle", "verify", other, "--json").out)[0]["findings"][0]["kind"] == "extra"
