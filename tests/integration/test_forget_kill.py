"""`steno forget`, killed at any moment: the run is there whole, or gone, once the next process has written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from archive_cases import claude_line, session_path, synced, written

HERE = Path(__file__).parent


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [25, pytest.param(200, marks=pytest.mark.scale)])
def test_a_removal_that_is_killed_leaves_the_run_whole_or_gone(tmp_path: Path, kills: int) -> None:
    """Kills are spread evenly over everything that a removal does; both outcomes are met, and no third."""
    home, archive = tmp_path / "home", tmp_path / "archive"
    for number in (1, 2, 3):
        session = f"0f1e2d3c-4b5a-4978-8695-{number:012}"
        text = "the quetzalcoatlus flies" if number == 2 else "nothing of the kind"
        written(session_path(home, session), claude_line(number, text=text, session=session))
        synced(home, archive)
    command = [sys.executable, str(HERE / "forget_kills.py"), str(tmp_path), str(kills)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "STENOGRAPH_CONFIG": os.devnull}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["half"] == 0
    assert outcome["whole"] > kills / 20
    assert outcome["gone"] > kills / 20
    assert outcome["killed"] > kills * 0.9
