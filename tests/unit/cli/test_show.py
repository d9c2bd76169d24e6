"""`steno show`."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stenograph import entries, format_transcript, read_events, start_run


def test_the_terminal_shows_what_was_said_and_done(steno: Any, recorded: Any) -> None:
    """In order, without colour when nobody's terminal is there."""
    run, child = recorded
    shown = steno("show", run.path)
    assert (shown.code, shown.err) == (0, "")
    for text in (
        "━━ review",
        "▸ read agent",
        "Be careful.",
        "Review it.",
        "hm",
        "Fine. 零",
        "read_file a.py",
        "✓ read",
    ):
        assert text in shown.out
    assert f"▸ release calls run {child.run_id}" in shown.out
    assert shown.out.index("Be careful.") < shown.out.index("Review it.") < shown.out.index("Fine.")
    assert "\x1b" not in shown.out


def test_long_outputs_are_cut_unless_full(steno: Any, recorded: Any) -> None:
    """What is hidden is counted."""
    run, _ = recorded
    shown = steno("show", run.path)
    assert "line 29" in shown.out
    assert "line 30" not in shown.out
    assert "20 more lines (--full shows them)" in shown.out
    assert "line 49" in steno("show", run.path, "--full").out


@pytest.mark.parametrize("options", [["--json"], ["--as", "json"], ["--as", "text", "--json"]])
def test_json_is_an_array_of_the_events(steno: Any, recorded: Any, options: list[str]) -> None:
    """One document, one element per event, as it stands in the journal."""
    run, _ = recorded
    shown = steno("show", run.path, *options)
    assert shown.json == [json.loads(line) for line in run.path.read_text("utf-8").splitlines()]


def test_entries_is_an_array_of_the_flat_view(steno: Any, recorded: Any) -> None:
    """What `entries()` gives, as dicts."""
    run, _ = recorded
    shown = steno("show", run.path, "--as", "entries")
    assert shown.json == [entry.as_dict() for entry in entries(read_events(run.path))]
    assert [entry["sequence_number"] for entry in shown.json] == list(range(1, len(shown.json) + 1))


def test_text_is_the_formatted_transcript(steno: Any, recorded: Any) -> None:
    """As `format_transcript` writes it."""
    run, _ = recorded
    assert steno("show", run.path, "--as", "text").out == format_transcript(entries(read_events(run.path)))


@pytest.mark.parametrize("form", ["terminal", "text", "json", "entries"])
def test_an_empty_journal_shows_nothing(steno: Any, tmp_path: Path, form: str) -> None:
    """As JSON: an empty array."""
    path = tmp_path / "550e8400-e29b-41d4-a716-446655440000.jsonl"
    path.touch()
    shown = steno("show", path, "--as", form)
    assert shown.code == 0
    assert shown.out == ("[]\n" if form in ("json", "entries") else "")


@pytest.mark.parametrize("form", ["terminal", "text", "json", "entries"])
def test_flaws_are_told_on_stderr(steno: Any, recorded: Any, form: str) -> None:
    """Malformed lines, replaced characters and a torn tail are counted; the rest is shown; the exit code is 0."""
    run, _ = recorded
    with run.path.open("ab") as file:
        file.write(b'not json\n{"seq":99,"type":"error","payload":{"message":"\xff"}}\n\n{"seq":')
    shown = steno("show", run.path, "--as", form)
    assert shown.code == 0
    assert "1 lines are not JSON: unknown events without a number" in shown.err
    assert "1 characters were not UTF-8" in shown.err
    assert "7 bytes at the end are an unfinished line" in shown.err
    assert "not json" in shown.out
    if form in ("json", "entries"):
        assert isinstance(shown.json, list)


def test_a_transcript_does_not_command_the_terminal(steno: Any, root: Path) -> None:
    """Escape sequences in what an agent said are shown, not obeyed."""
    from stenograph import start_run

    with start_run("\x1b[31mred", root=root) as run:
        run.user("\x1b]0;title\x07\u202e")
    shown = steno("show", run.path).out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "␛" in shown


def _on_a_terminal(*arguments: object, **environment: str) -> str:
    """What `steno` prints where a person looks, line ends as in a file."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "stenograph", *map(str, arguments)]
    env = {**os.environ, "PAGER": "cat", "TERM": "xterm", "TZ": "UTC", **environment}
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, env=env):
        os.close(slave)
        parts = []
        while True:
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # how Linux says that nobody writes any more
                break
            if not part:
                break
            parts.append(part)
    os.close(master)
    return b"".join(parts).decode().replace("\r\n", "\n")


@pytest.fixture
def noisy(root: Path) -> Path:
    """A run with machine events, a failed call and two prompts."""
    with start_run("noisy", root=root) as run, run.step("work", "agent") as step:
        step.user("First question")
        step.system("settings", "a machine wrote this")
        with step.tool("read_file", {"path": "good.py"}) as call:
            call.output = "fine"
        with step.tool("read_file", {"path": "bad.py"}) as call:
            call.fail("no such file")
        step.assistant("An answer")
        step.user("Second question")
        step.assistant("Another answer")
    return run.path


def test_a_person_sees_a_header_times_and_no_noise(noisy: Path) -> None:
    """Who, when and how it stands; each event with its time; what is hidden is counted, and `--all` shows it."""
    shown = _on_a_terminal("show", noisy)
    plain = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert plain.startswith("noisy\n")
    assert "finished" in plain.split("\n")[1]
    assert "2 prompts · 2 tool calls · 1 failed" in plain
    assert re.search(r"^\d\d:\d\d:\d\d +👤 First question$", plain, re.MULTILINE)
    assert "a machine wrote this" not in plain
    assert "1 machine event is not shown; --all shows them" in plain
    assert "\x1b[" in shown
    everything = _on_a_terminal("show", noisy, "--all")
    assert "a machine wrote this" in everything
    assert "not shown" not in everything
    assert "\x1b[" not in _on_a_terminal("show", noisy, NO_COLOR="1")


def test_a_pipe_gets_every_event(steno: Any, noisy: Path) -> None:
    """Without a header, and without times: what other programs read stays what it was."""
    shown = steno("show", noisy).out
    assert "a machine wrote this" in shown
    assert shown.startswith("━━ noisy")
    assert len(steno("show", noisy, "--json").json) == len(list(read_events(noisy)))


def test_the_pager_is_the_persons(noisy: Path, tmp_path: Path) -> None:
    """`PAGER` gets the text."""
    taken = tmp_path / "taken"
    program = tmp_path / "pager"
    program.write_text(f"#!/bin/sh\ncat > {taken}\n")
    program.chmod(0o755)
    assert "First question" not in _on_a_terminal("show", noisy, PAGER=str(program))
    assert "First question" in taken.read_text("utf-8")


def test_only_what_is_asked_for(steno: Any, noisy: Path) -> None:
    """Failed calls with their results, calls, the last prompt with what followed."""
    errors = steno("show", noisy, "--errors").out
    assert "bad.py" in errors
    assert "no such file" in errors
    assert "good.py" not in errors
    assert "First question" not in errors
    tools = steno("show", noisy, "--tools").out
    assert "good.py" in tools
    assert "bad.py" in tools
    assert "question" not in tools
    last = steno("show", noisy, "--last").out
    assert "Another answer" in last
    assert "First question" not in last


def test_nothing_of_what_was_asked_for_is_said(steno: Any, recorded: Any) -> None:
    """One line, and the exit code of a run that was read."""
    run, _ = recorded
    shown = steno("show", run.path, "--errors")
    assert (shown.code, shown.out) == (0, "")
    assert "has no events that match" in shown.err


@pytest.mark.parametrize("option", ["--all", "--errors", "--tools", "--last"])
@pytest.mark.parametrize("form", [["--json"], ["--as", "entries"], ["--as", "html"]])
def test_data_is_never_filtered(steno: Any, noisy: Path, option: str, form: list[str]) -> None:
    """An option that would leave something out of it is refused."""
    shown = steno("show", noisy, option, *form)
    assert shown.code == 2
    assert "are for the terminal" in shown.err
