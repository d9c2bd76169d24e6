"""`steno watch --push`: the command sends what it keeps, and the rest when it is ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from archive_cases import claude_line, session_path, written
from fleet_cases import archive_id, folder_store, indexed_events, kept_files, newest, stored_events, stored_files

PATIENT = """
from stenograph.cli import main
from stenograph.fleet.store import pushing
pushing._LAST_WORD = 120.0
main()
"""
"""`steno`, which has time to send the rest when it is ended."""


def test_the_command_sends_what_it_keeps(tmp_path: Path) -> None:
    """All of it at the first sync; what came last is sent when it is told to end."""
    home, archive, store = tmp_path / "home", tmp_path / "archive", folder_store(tmp_path)
    path = written(session_path(home), claude_line(1))
    command = [sys.executable, "-c", PATIENT, "watch", "--home", str(home), "--json", "--push", store.url]
    environment = {**os.environ, "STENOGRAPH_HOME": str(archive)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        try:
            while "pushed" not in json.loads(running.stdout.readline()):
                pass
            written(path, claude_line(2))
            while not json.loads(running.stdout.readline()).get("events"):
                pass
        finally:
            running.terminate()
            told = running.stderr.read().decode()
    assert running.returncode == 0
    assert told.splitlines() == [f"steno: watching for {archive}; press Ctrl-C to stop"]
    assert len(indexed_events(archive)) == 2
    assert newest(stored_events(store, archive_id(archive))) == indexed_events(archive)
    assert stored_files(store, archive_id(archive), "bytes") == kept_files(archive)
