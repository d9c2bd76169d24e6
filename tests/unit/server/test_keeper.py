"""The process that keeps the archive: none is started after the end."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from stenograph.archive.store.home import home_of
from stenograph.server import keeper


def test_no_process_is_started_after_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that ends at once may close its keeper before its thread has begun."""
    started: list[object] = []
    monkeypatch.setattr(keeper.subprocess, "Popen", lambda *given, **_: started.append(given))
    kept = keeper.Keeper(home_of(tmp_path))
    kept.close()
    kept.start()
    for thread in threading.enumerate():
        if thread.name == "steno-keeper":
            thread.join()
    assert started == []
