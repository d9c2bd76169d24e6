"""Runs that start to need a person: they wait for an answer, or have failed."""

from __future__ import annotations

import os
import subprocess

from stenograph.runs.archive import Archive
from stenograph.runs.info import RunInfo

NEEDS_A_PERSON = ("waiting", "failed")
_LOOKED_AT = 50
_SECONDS = 30


class Attention:
    """Compares the newest runs of an archive with their last known state; the first call only remembers."""

    def __init__(self) -> None:
        self._known: dict[str, str] | None = None

    def begun(self, archive: Archive) -> list[RunInfo]:
        """The runs that have started to wait or have failed since the last call."""
        runs = archive.runs(limit=_LOOKED_AT)
        before, self._known = self._known, {**(self._known or {}), **{run.run_id: run.status for run in runs}}
        if before is None:
            return []
        return [run for run in runs if run.status in NEEDS_A_PERSON and before.get(run.run_id) != run.status]


def notify(command: str, run: RunInfo) -> str | None:
    """Run a command of the user's for a run, which it gets in variables; returns why it failed, if it did."""
    variables = {
        "STENO_RUN_ID": run.run_id,
        "STENO_STATUS": run.status,
        "STENO_REASON": run.status_reason or "",
        "STENO_TITLE": run.title or "",
        "STENO_PROJECT": run.project or "",
        "STENO_AGENT": run.agent,
    }
    environment = {**os.environ, **{name: value.replace("\0", "") for name, value in variables.items()}}
    try:
        done = subprocess.run(
            command, shell=True, env=environment, stdin=subprocess.DEVNULL, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"the command of --notify took longer than {_SECONDS} s, so it was ended"
    return None if done.returncode == 0 else f"the command of --notify ended with {done.returncode}"
