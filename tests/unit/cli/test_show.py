"""`steno show`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stenograph import entries, format_transcript, read_events


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
