"""Active runs: runs of the archive that are running or waiting, and unindexed journals that are being written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stenograph import config
from stenograph.errors import RunNotFound
from stenograph.journal.place import SUFFIX
from stenograph.liveness import Liveness
from stenograph.runs.archive import Archive
from stenograph.runs.info import RunInfo
from stenograph.runs.journal import JournalRun

ACTIVE = ("running", "waiting")


def active_runs(archive: Archive) -> list[RunInfo]:
    """The runs that are running or waiting now, those with the newest events first."""
    try:
        found = {run.run_id: run for status in ACTIVE for run in archive.runs(status=status)}
    except RunNotFound:  # no archive yet
        found = {}
    found.update({run.run_id: run for run in _being_written(archive) if run.status in ACTIVE})
    return sorted(found.values(), key=lambda run: run.ended_at or "", reverse=True)


def _being_written(archive: Archive) -> Iterator[RunInfo]:
    liveness = Liveness()
    storage = config.value("archive.storage")
    for root in dict.fromkeys([archive.path, *([Path(storage)] if storage else [])]):
        try:
            journals = [Path(entry.path) for entry in os.scandir(root / "transcripts") if entry.name.endswith(SUFFIX)]
        except OSError:  # nothing was recorded there
            continue
        for journal in journals:
            if liveness.of([journal], is_journal=True).has_process:
                yield JournalRun(journal).info()
