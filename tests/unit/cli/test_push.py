"""`steno push`: what it says, to people and to programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fleet_cases import archive_id, cloned, folder_store, grown
from stenograph.archive.store.home import home_of
from stenograph.archive.store.lock import Lock

Steno = Callable[..., Any]


def test_it_says_what_it_sent_and_what_is_behind(tmp_path: Path, steno: Steno) -> None:
    """One line for people, one document for programs."""
    archive, url = grown(tmp_path), f"file://{tmp_path / 'store'}"
    behind = steno("push", url, "--archive", archive, "--dry-run")
    assert behind.out.endswith(f"bytes of archive {archive_id(archive)} are not in the store\n")
    told = steno("push", url, "--archive", archive, "--json")
    assert told.code == 0
    assert told.json["archive"] == archive_id(archive)
    assert told.json["events"] > 0 < told.json["bytes"]
    again = steno("push", url, "--archive", archive)
    assert again.out == f"archive {archive_id(archive)} is up to date in the store\n"
    assert steno("push", url, "--archive", archive, "--dry-run", "--json").json["behind"] == 0


def test_mistakes_are_one_line(tmp_path: Path, steno: Steno) -> None:
    """Another URL, no archive, a folder that cannot be made, another sender."""
    archive, url = grown(tmp_path, sessions=1), f"file://{tmp_path / 'store'}"
    (tmp_path / "file").write_bytes(b"")
    lock = Lock(home_of(archive).push_lock, "steno push")
    lock.acquire()
    codes = {
        ("push", "somewhere", "--archive", archive): 2,
        ("push", url, "--archive", tmp_path / "none"): 3,
        ("push", f"file://{tmp_path / 'file' / 'store'}", "--archive", archive): 4,
        ("push", url, "--archive", archive): 4,
    }
    for arguments, code in codes.items():
        done = steno(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (code, "", 1), (arguments, done)
    assert "steno push is at work in" in done.err
    lock.release()
    assert folder_store(tmp_path).entries("v1/") == []


def test_a_fork_is_one_line_and_evidence_begins_anew(tmp_path: Path, steno: Steno) -> None:
    """Checkpoints of the old id are set aside: a log does not go on under another name."""
    first, second = cloned(tmp_path)
    url = f"file://{tmp_path / 'store'}"
    assert steno("push", url, "--archive", first).err == ""
    (second / "evidence").mkdir()
    (second / "evidence" / "vkey").write_text("x")
    (line,) = steno("push", url, "--archive", second).err.splitlines()
    assert f"has another history of archive {archive_id(first)}" in line
    assert f"this archive is {archive_id(second)} from now on" in line
    assert not (second / "evidence").exists()
    assert (second / f"evidence-{archive_id(first)}" / "vkey").exists()


def test_watch_sends_only_where_it_is_told_to(steno: Steno) -> None:
    """An option that would do nothing is refused."""
    done = steno("watch", "--events-only")
    assert done.code == 2
    assert "needs --push URL" in done.err
