"""`steno verify`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from stenograph import Recorder, start_run


def test_good_journals_are_exit_code_0(steno: Any, recorded: Any) -> None:
    """One line each, by path or run id."""
    run, child = recorded
    checked = steno("verify", run.path, child.path)
    assert (checked.code, checked.err) == (0, "")
    assert checked.out == f"{run.path}: ok, 10 events in 10 lines\n{child.path}: ok, 3 events in 3 lines\n"


def test_problems_are_exit_code_1_and_listed(steno: Any, recorded: Any) -> None:
    """Each with its kind and place."""
    run, child = recorded
    data = run.path.read_bytes().splitlines(keepends=True)
    run.path.write_bytes(b"".join(data[:2] + data[3:]) + b"not json\ntorn")
    run.path.chmod(0o644)
    checked = steno("verify", child.path, run.path)
    assert checked.code == 1
    assert f"{child.path}: ok" in checked.out
    assert f"{run.path}: PROBLEMS" in checked.out
    for text in ("✗ permissions: ", "✗ gap line 3: seq 3 missing before 4", "✗ malformed line 10: ", "✗ torn_tail: "):
        assert text in checked.out


def test_a_journal_that_cannot_be_read_is_exit_code_3_and_the_others_are_checked(
    steno: Any, recorded: Any, tmp_path: Path
) -> None:
    """Also when another one has problems."""
    run, child = recorded
    run.path.chmod(0o644)
    checked = steno("verify", run.path, tmp_path / "missing", child.path)
    assert checked.code == 3
    assert f"{run.path}: PROBLEMS" in checked.out
    assert f"{child.path}: ok" in checked.out
    assert checked.err.startswith("steno: no file and no run")


def test_json_is_an_array_of_reports(steno: Any, recorded: Any) -> None:
    """One per journal, with its findings."""
    run, child = recorded
    with child.path.open("ab") as file:
        file.write(b"torn")
    checked = steno("verify", run.path, child.path, "--json")
    assert checked.code == 1
    good, bad = checked.json
    assert (good["path"], good["ok"], good["run_id"], good["findings"]) == (str(run.path), True, run.run_id, [])
    assert (bad["ok"], bad["lines"], bad["last_seq"]) == (False, 3, 3)
    assert [finding["kind"] for finding in bad["findings"]] == ["torn_tail"]


def test_a_live_journal_says_so(steno: Any, root: Path) -> None:
    """Its open ends are worth knowing and no problem."""
    run = start_run("r", root=root)
    checked = steno("verify", run.run_id, "--root", root)
    assert checked.code == 0
    assert "being written now" in checked.out
    assert "· open_run seq 1" in checked.out
    run.complete()


def test_a_path_that_is_no_text_can_be_reported(steno: Any, root: Path) -> None:
    """File names are bytes; JSON is not."""
    with Recorder(root, run_id="550e8400-e29b-41d4-a716-446655440000") as recorder:
        recorder.record("system.event", {"subtype": "x"})
    folder = root / os.fsdecode(b"\xff")
    folder.mkdir()
    path = recorder.path.rename(folder / recorder.path.name)
    assert steno("verify", path).code == 0
    assert steno("verify", path, "--json").json[0]["ok"] is True
    assert steno("tree", path, "--json").json["events"] == 1
