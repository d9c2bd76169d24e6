"""`steno collect` by hand: a session's file, recorded once, and its text transcripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stenograph import read_events
from stenograph.sources import convert

Steno = Callable[..., Any]
GOLDEN = Path(__file__).parents[2] / "golden"
SESSION = GOLDEN / "claude_code" / "2.1.325-basic" / "input.jsonl"


def test_text_transcripts_belong_to_the_thread_that_is_given(steno: Steno, tmp_path: Path) -> None:
    """Thread, chat and mode are in the place and the header."""
    options = ["--text-root", str(tmp_path / "texts"), "--thread", "nightly", "--chat", "monday", "--mode", "review"]
    outcome = steno("collect", str(SESSION), "--idle", "0", "--root", str(tmp_path / "storage"), *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert len(list(read_events(outcome.out.strip()))) == len(list(convert(SESSION)))
    files = list((tmp_path / "texts" / "threads" / "nightly").rglob("*.txt"))
    assert files
    for file in files:
        lines = file.read_text("utf-8").splitlines()
        assert lines[:2] == ["Thread ID: nightly", "Chat ID: monday"]
        assert "Agent Mode: review" in lines[:6]


def test_without_a_prompt_there_is_no_text_and_a_line_says_so(steno: Steno, tmp_path: Path) -> None:
    """A session of which only the answer is there."""
    lines = SESSION.read_bytes().splitlines(keepends=True)
    answers = [line for line in lines if b'"type":"assistant"' in line]
    assert answers
    path = tmp_path / "550e8400-e29b-41d4-a716-446655440000.jsonl"
    path.write_bytes(b"".join(answers))
    options = ["--root", str(tmp_path / "storage"), "--text-root", str(tmp_path / "texts")]
    outcome = steno("collect", str(path), "--idle", "0", "--from", "claude_code", *options)
    assert outcome.code == 0
    assert (
        outcome.err == "steno: no text transcript was written: each file begins with a prompt, and none was recorded\n"
    )
    assert not (tmp_path / "texts").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--mode", "review"], "--mode is for text transcripts"),
        (["--text-root", "x", "--thread", "a/b"], "cannot name a thread"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(
    steno: Steno, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], told: str
) -> None:
    """Nothing is recorded."""
    monkeypatch.chdir(tmp_path)
    outcome = steno("collect", str(SESSION), "--idle", "0", "--root", str(tmp_path / "storage"), *options)
    assert outcome.code == 2
    assert told in outcome.err
    assert not (tmp_path / "storage" / "transcripts").exists()
