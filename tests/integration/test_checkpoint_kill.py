"""A sync that signs, killed at any moment: no checkpoint ever says more than the archive has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from archive_cases import claude_line, session_path, synced, written
from stenograph.archive.store.home import home_of
from stenograph.evidence.settings import EvidenceSettings
from stenograph.evidence.signing import initialise

HERE = Path(__file__).parent


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [15, pytest.param(60, marks=pytest.mark.scale)])
def test_a_signed_checkpoint_never_says_more_than_there_is(tmp_path: Path, kills: int) -> None:
    """Kills spread evenly over sync and signing: the checkpoint on disk fits, and the next sync goes on."""
    home, more, archive = tmp_path / "home", tmp_path / "more", tmp_path / "archive"
    sessions = [f"0f1e2d3c-4b5a-4978-8695-{number:012}" for number in (1, 2, 3)]
    written(session_path(home, sessions[0]), claude_line(1, session=sessions[0]))
    synced(home, archive)
    initialise(home_of(archive), EvidenceSettings(key=str(tmp_path / "key")))
    for session in sessions[1:]:
        written(session_path(more, session), claude_line(2, session=session))
    command = [sys.executable, str(HERE / "checkpoint_kills.py"), str(tmp_path), str(kills)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "STENOGRAPH_CONFIG": os.devnull}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["bad"] == 0
    assert outcome["old"] > kills / 20
    assert outcome["killed"] > kills * 0.9
    shutil.rmtree(tmp_path / "work")
