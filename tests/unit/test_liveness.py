"""Whether a run's process is there: by the clock, by locks, by open files."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stenograph import start_run
from stenograph.fold.status import Life
from stenograph.liveness import RECENT, Liveness


def test_a_file_of_the_last_hour_is_recent(tmp_path: Path) -> None:
    """By its own time; a file that is not there says nothing."""
    path = tmp_path / "a.jsonl"
    path.write_text("{}\n")
    os.utime(path, (1_000_000, 1_000_000))
    assert Liveness(1_000_000 + RECENT - 1).of([path]) == Life(is_recent=True)
    assert Liveness(1_000_000 + RECENT).of([path]) == Life()
    assert Liveness(1_000_000).of([tmp_path / "gone", "nul\0"]) == Liveness().of([]) == Life()


def test_a_journal_that_is_being_recorded_has_a_process(tmp_path: Path) -> None:
    """Its recorder holds the lock."""
    with start_run("demo", root=tmp_path) as run:
        assert Liveness().of([run.path], is_journal=True).has_process
    assert not Liveness().of([run.path], is_journal=True).has_process


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells which files are open")
def test_a_file_that_another_process_writes_has_one(tmp_path: Path) -> None:
    """To read it is not enough."""
    path = tmp_path / "a.jsonl"
    path.write_text("")
    for mode, expected in (("a", True), ("r", False)):
        program = f"import sys; f = open({str(path)!r}, {mode!r}); print(1, flush=True); sys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1) as process:
            assert process.stdout is not None
            process.stdout.readline()
            assert Liveness(time.time() + 2 * RECENT).of([path]) == Life(has_process=expected)
            process.communicate()
    assert Liveness(time.time() + 2 * RECENT).of([path]) == Life()
