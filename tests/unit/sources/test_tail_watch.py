"""Watching the folders of a session: which paths changed, and when to look everywhere."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

from stenograph import watch
from stenograph.watch import FolderWatch

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no paths are told")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = [tmp_path / "one", tmp_path / "two"]
    for folder in made:
        folder.mkdir()
    return made


@linux_only
def test_the_changed_paths_of_several_folders_are_told(folders: list[Path]) -> None:
    """By the names of the folders as they were given."""
    folder_watch = FolderWatch(folders, threading.Event(), safety_net=3600)
    (folders[0] / "a").write_text("x")
    (folders[1] / "é\u2028").mkdir()
    assert folder_watch.wait() == {str(folders[0] / "a"), str(folders[1] / "é\u2028")}
    folder_watch.close()


def test_nothing_is_told_after_a_short_wait(folders: list[Path]) -> None:
    """A caller's own time limit is no reason to look everywhere; the safety net is."""
    folder_watch = FolderWatch(folders, threading.Event(), safety_net=0.2)
    assert folder_watch.wait(0.01) == set()
    assert folder_watch.wait() is None
    folder_watch.close()


@linux_only
def test_more_changes_than_the_kernel_keeps_mean_look_everywhere(folders: list[Path]) -> None:
    """What was dropped is not known, so anything may have changed."""
    kept = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if kept > 100_000:
        pytest.skip("this kernel keeps more than a test should write")
    folder_watch = FolderWatch(folders, threading.Event(), safety_net=3600)
    with (folders[0] / "a").open("wb", 0) as one, (folders[1] / "b").open("wb", 0) as other:
        for _ in range(kept // 2 + 10):
            one.write(b"x")
            other.write(b"x")
    while told := folder_watch.wait(1.0):  # what was kept comes first
        assert told <= {str(folders[0] / "a"), str(folders[1] / "b")}
    assert told is None
    folder_watch.close()


def test_a_removed_folder_makes_the_watch_look_everywhere(folders: list[Path]) -> None:
    """And blind until what it watches is there again."""
    folder_watch = FolderWatch(folders, threading.Event(), safety_net=3600, blind_poll=0.01)
    folders[1].rmdir()
    assert folder_watch.wait() is None
    assert folder_watch.is_blind
    folders[1].mkdir()
    assert folder_watch.wait() is None
    assert not folder_watch.is_blind
    folder_watch.close()


def test_where_there_is_no_inotify_watchfiles_wakes_us(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that something changed, a stop ends its wait, and a short wait ends by itself."""
    monkeypatch.setattr(watch, "_Inotify", watch._Watchfiles)
    stop = threading.Event()
    folder_watch = FolderWatch(folders, stop, safety_net=3600)
    assert folder_watch.wait(0.05) == set()
    (folders[1] / "a").write_text("x")
    assert folder_watch.wait() is None
    threading.Timer(0.05, stop.set).start()
    begun = time.monotonic()
    while not stop.is_set():
        folder_watch.wait()
    assert time.monotonic() - begun < 60
    folder_watch.close()


@linux_only
def test_an_idle_watch_costs_next_to_nothing(folders: list[Path]) -> None:
    """A second of waiting is twenty looks whether it should stop, and not a busy loop."""
    folder_watch = FolderWatch(folders, threading.Event(), safety_net=3600)
    notify = folder_watch._notify
    assert isinstance(notify, watch._Inotify)
    poll, waits = notify._poll, []

    class Counted:
        def poll(self, milliseconds: float) -> list[tuple[int, int]]:
            waits.append(milliseconds)
            return poll.poll(milliseconds)

    notify._poll = cast(Any, Counted())
    assert folder_watch.wait(1.0) == set()
    assert len(waits) <= 25
    folder_watch.close()
