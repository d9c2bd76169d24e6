"""Runs that begin to need a person are told, each once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archive_cases import SESSION, claude_line, session_path, synced, written
from stenograph import open_archive
from stenograph.archive.store.home import home_of
from stenograph.runs.attention import Attention, notify
from stenograph.runs.info import RunInfo


def question(number: int) -> bytes:
    record = json.loads(claude_line(number, "call"))
    record["message"]["content"][0] |= {"name": "AskUserQuestion", "input": {"questions": []}}
    return json.dumps(record).encode() + b"\n"


def test_a_run_that_begins_to_need_somebody_is_told_once(tmp_path: Path) -> None:
    """Not the ones of before, not twice, and again when it waits a second time."""
    archive = home_of(tmp_path / "archive")
    archive.make()
    attention = Attention()

    def begun(*lines: bytes) -> list[str]:
        written(session_path(tmp_path / "home"), *lines)
        synced(tmp_path / "home", archive.path)
        with open_archive(archive.path) as opened:
            return [run.run_id for run in attention.begun(opened) if run.status == "waiting"]

    assert begun(claude_line(0), question(1)) == []
    assert begun(claude_line(2, "result"), claude_line(3, "assistant")) == []
    assert begun(claude_line(4), question(5)) == [SESSION]
    assert begun() == []


def test_a_command_knows_the_run_by_variables(tmp_path: Path) -> None:
    """A title of any kind is data: the shell does not see it."""
    run = RunInfo(run_id=SESSION, status="waiting", title="$(touch evil); `touch evil`", agent="claude")
    place = tmp_path / "told"
    assert (
        notify(f'cd "{tmp_path}" && printf "%s|%s|%s" "$STENO_RUN_ID" "$STENO_STATUS" "$STENO_TITLE" > told', run)
        is None
    )
    assert place.read_text() == f"{SESSION}|waiting|{run.title}"
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(("command", "words"), [("exit 3", "ended with 3"), ("/nowhere/at/all 2>&-", "ended with 127")])
def test_a_command_that_fails_is_told(command: str, words: str) -> None:
    """In one line, and the watch goes on."""
    assert words in str(notify(command, RunInfo(run_id=SESSION)))
