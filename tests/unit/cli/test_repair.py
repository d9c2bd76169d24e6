"""`steno repair`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stenograph import Recorder, read_events
from stenograph.journal.file import torn_path


def test_a_torn_tail_is_set_aside_and_said(steno: Any, recorded: Any) -> None:
    """Then the journal is good, and a second repair has nothing to do."""
    run, _ = recorded
    whole = run.path.read_bytes()
    run.path.write_bytes(whole + b"torn")
    repaired = steno("repair", run.path)
    assert (repaired.code, repaired.err) == (0, "")
    aside = torn_path(run.path)
    assert repaired.out == (
        f"{run.path}: 4 bytes of an unfinished line set aside in {aside}; the last event is seq 10\n"
    )
    assert run.path.read_bytes() == whole
    assert aside.read_bytes() == b"torn\n"
    assert steno("verify", run.path).code == 0
    assert steno("repair", run.path).out == f"{run.path}: nothing to repair, the last event is seq 10\n"


def test_json_is_one_object(steno: Any, recorded: Any) -> None:
    """What was done."""
    run, _ = recorded
    assert steno("repair", run.path, "--json").json == {"path": str(run.path), "torn_bytes": 0, "last_seq": 10}
    with run.path.open("ab") as file:
        file.write(b"x")
    assert steno("repair", run.path, "--json").json == {
        "path": str(run.path),
        "torn_bytes": 1,
        "aside": str(torn_path(run.path)),
        "last_seq": 10,
    }


def test_a_journal_that_is_being_written_is_exit_code_4(steno: Any, root: Path) -> None:
    """One line, with the pid."""
    with Recorder(root) as recorder:
        ended = steno("repair", recorder.path)
    assert ended.code == 4
    assert ended.err.startswith(f"steno: {recorder.path} is being written by process ")
    assert ended.err.count("\n") == 1


def test_a_symlink_is_exit_code_4(steno: Any, recorded: Any, tmp_path: Path) -> None:
    """A journal is never written through one; it can still be read."""
    run, _ = recorded
    link = tmp_path / f"{run.run_id}.jsonl"
    link.symlink_to(run.path)
    ended = steno("repair", link)
    assert ended.code == 4
    assert "symbolic link" in ended.err
    assert len(list(read_events(link))) == 10
    assert steno("show", link).code == 0
