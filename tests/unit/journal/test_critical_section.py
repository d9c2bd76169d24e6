"""What happens while the recorder's lock is held: number, write, publish, and nothing that waits."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from stenograph import Recorder, read_events

WAITING = {
    "sleep",
    "select",
    "poll",
    "epoll_wait",
    "fsync",
    "fdatasync",
    "recv",
    "accept",
    "read",
    "readline",
    "system",
}
"""Names of functions of the interpreter that wait for something."""


def _say(recorder: Recorder) -> None:
    recorder.record("system.event", {"subtype": "note", "text": "x"})


def test_a_subscriber_hears_of_what_is_in_the_file(root: Path) -> None:
    """When an event reaches a listener, its line has been written."""
    with Recorder(root) as recorder:
        publish = recorder._fan_out.publish
        written: list[list[int]] = []

        def look(event: Any, size: int) -> None:
            written.append([each.seq for each in read_events(recorder.path)])
            assert size == recorder.path.stat().st_size
            publish(event, size)

        recorder._fan_out.publish = look  # type: ignore[method-assign]
        for _ in range(3):
            _say(recorder)
    assert written == [[1], [1, 2], [1, 2, 3]]


def test_nothing_waits_while_the_lock_is_held(root: Path) -> None:
    """Others wait for the lock, so under it one line is written, and no function that waits is called."""
    called: list[str] = []

    def watch(_: FrameType, event: str, function: Any) -> None:
        if event == "c_call" and recorder._lock._is_owned():  # type: ignore[attr-defined]
            called.append(function.__name__)

    with Recorder(root) as recorder:
        _say(recorder)
        sys.setprofile(watch)
        try:
            _say(recorder)
        finally:
            sys.setprofile(None)
    assert called.count("write") == 1
    assert not WAITING & set(called), called
