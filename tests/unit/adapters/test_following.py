"""The engine that watches and reads, which every collector has."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from stenograph.adapters.following.following import Following
from stenograph.watch import Changes


class Reads:
    """A session that says which folders it wants watched, and notes how it is read."""

    def __init__(self, *folders: Path) -> None:
        self.folders = frozenset(folders)
        self.calls: list[tuple[Changes, bool]] = []
        self.at_first: Path | None = None

    def read(self, changed: Changes, discover: bool) -> int:
        self.calls.append((changed, discover))
        if self.at_first is not None:
            self.folders, self.at_first = self.folders | {self.at_first}, None
        return 1


def test_new_folders_are_watched_and_read_once_more(tmp_path: Path) -> None:
    """A watch says only what comes after it was made, so everything is read again behind it."""
    reads = Reads(tmp_path)
    following = Following(reads.read, lambda: reads.folders, threading.Event(), safety_net=3600)
    assert not following.is_watching
    assert following.look() == 2
    (inner := tmp_path / "inner").mkdir()
    reads.at_first = inner
    assert following.look({"x"}) == 2
    assert reads.calls == [(None, True), (None, True), ({"x"}, True), (None, True)]
    assert following.look({"x"}) == 1
    (inner / "file").touch()
    assert following.wait(5) == {str(inner / "file")}
    following.close()


def test_everything_is_read_after_the_safety_net(tmp_path: Path) -> None:
    """Whatever the system says meanwhile; and as soon as it is woken."""
    wake = threading.Event()
    reads = Reads(tmp_path)
    following = Following(reads.read, lambda: reads.folders, wake, safety_net=0.0)
    following.look()
    (tmp_path / "file").touch()
    assert following.wait(0.01) is None
    patient = Following(reads.read, lambda: reads.folders, wake)
    patient.look()
    wake.set()
    assert patient.wait() is None
    following.close()
    patient.close()


def test_where_no_watch_works_new_files_are_looked_for_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading goes on at every look."""
    monkeypatch.setattr("stenograph.watch._watch", lambda _: None)
    reads = Reads(tmp_path)
    following = Following(reads.read, lambda: reads.folders, threading.Event(), discovery_interval=1000.0)
    following.look()
    following.look(set())
    assert reads.calls == [(None, True), (None, True), (set(), False)]
    following.close()
