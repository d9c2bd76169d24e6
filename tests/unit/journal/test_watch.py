"""Waking up when a folder changes."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from stenograph import watch
from stenograph.watch import FolderWatch


def test_a_change_since_the_watch_was_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it came before the wait; without the safety net, so that the watch itself must tell."""
    monkeypatch.setattr(watch, "SAFETY_NET", 3600)
    folder_watch = FolderWatch(tmp_path, threading.Event())
    (tmp_path / "a").touch()
    folder_watch.wait()
    timer = threading.Timer(0.05, (tmp_path / "b").touch)
    timer.start()
    folder_watch.wait()
    timer.join()
    folder_watch.close()


def test_the_safety_net_looks_again_without_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that tells nothing is looked at all the same."""
    monkeypatch.setattr(watch, "SAFETY_NET", 0.05)
    folder_watch = FolderWatch(tmp_path, threading.Event())
    folder_watch.wait()
    folder_watch.close()


def test_stopping_ends_a_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder that is there, and for one that is not."""
    monkeypatch.setattr(watch, "SAFETY_NET", 3600)
    monkeypatch.setattr(watch, "BLIND_POLL", 3600)
    for folder in (tmp_path, tmp_path / "missing"):
        stop = threading.Event()
        timer = threading.Timer(0.05, stop.set)
        timer.start()
        folder_watch = FolderWatch(folder, stop)
        folder_watch.wait()
        folder_watch.close()
        timer.join()


def test_a_folder_is_watched_as_soon_as_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until then it is looked for; when it is removed, too."""
    monkeypatch.setattr(watch, "SAFETY_NET", 3600)
    monkeypatch.setattr(watch, "BLIND_POLL", 0.01)
    folder = tmp_path / "later"
    folder_watch = FolderWatch(folder, threading.Event())
    folder_watch.wait()
    assert folder_watch._notify is None
    folder.mkdir()
    folder_watch.wait()
    assert folder_watch._notify is not None
    folder.rmdir()
    folder_watch.wait()
    assert folder_watch._notify is None
    folder_watch.close()


NO_WATCHES = """
    import resource, sys, threading, time
    from stenograph import Recorder, follow, watch
    import watchfiles._rust_notify

    recorder = Recorder(sys.argv[1])
    recorder.record("system.event", {"subtype": "x"})
    resource.setrlimit(resource.RLIMIT_NOFILE, (6, 6))
    folder_watch = watch.FolderWatch(recorder.path.parent, threading.Event())
    assert folder_watch._notify is None, "there was still room for a watch"
    folder_watch.wait()
    events = iter(follow(recorder.path))
    assert next(events).seq == 1
    threading.Timer(0.2, recorder.record, ["system.event", {"subtype": "y"}]).start()
    assert next(events).seq == 2
"""


def test_where_the_system_has_no_watch_left_it_is_polled(root: Path, python: Any) -> None:
    """Too many watches on a machine slow us down and do not stop us."""
    python(NO_WATCHES, root)


def test_a_blind_watch_does_not_spin(tmp_path: Path) -> None:
    """Waiting for a folder that never comes takes its time each time."""
    folder_watch = FolderWatch(tmp_path / "missing", threading.Event())
    begun = time.monotonic()
    for _ in range(3):
        folder_watch.wait()
    assert time.monotonic() - begun >= 0.25
