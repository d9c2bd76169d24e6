"""Senders, those who bring an archive back, and maintenance, killed at random moments, in a folder and in S3."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from unit.fleet.conftest import bucket, s3_address  # noqa: F401  # fixtures

HERE = Path(__file__).parent
KILLS = 40


def assert_survived(folder: Path, url: str, seed: int, kills: int) -> None:
    """After every kill and one push, the store has everything once; what comes back is the archive."""
    command = [sys.executable, str(HERE / "fleet_kills.py"), str(folder), url, str(kills), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "STENOGRAPH_CONFIG": os.devnull}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    sent = outcome["sent"]
    assert sent["rows"] == sent["distinct"] == sent["expected"]
    assert sent["pieces"] > kills
    assert sent["packs"] > 1
    assert {"archives": 1, "events": True, "bytes": True}.items() <= sent.items()
    assert outcome["pulled"] == [True, True]
    assert outcome["index"]
    assert outcome["erased"]
    assert outcome["index after"]
    assert outcome["left"] == []
    assert outcome["senders"] + outcome["pullers"] + outcome["erasers"] > kills * 1.2


@pytest.mark.scale
@pytest.mark.timeout(1500)
def test_kills_leave_everything_once_in_a_folder(tmp_path: Path) -> None:
    """Senders, pullers and maintenance: no gap, no overlap, nothing twice, nothing torn."""
    assert_survived(tmp_path, f"file://{tmp_path / 'store'}", seed=7, kills=KILLS)


@pytest.mark.scale
@pytest.mark.timeout(1500)
def test_kills_leave_everything_once_in_s3(tmp_path: Path, bucket: str) -> None:  # noqa: F811
    """The same where every object is a request."""
    assert_survived(tmp_path, bucket, seed=11, kills=KILLS)


def test_some_kills_leave_everything_once(tmp_path: Path) -> None:
    """A few of them, with every change."""
    assert_survived(tmp_path, f"file://{tmp_path / 'store'}", seed=3, kills=4)
