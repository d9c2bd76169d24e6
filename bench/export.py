"""Exports: a large session of an agent in every format that others read."""

from __future__ import annotations

import time
from pathlib import Path

from bench.html import SESSION, _write_session
from bench.measure import Row
from stenograph import export_run
from stenograph.export.exporter import exporters

GOAL = 15
"""MB of the agent's file a second of processor time."""


def rows(folder: Path) -> list[Row]:
    """Every measurement of this room."""
    session = folder / f"{SESSION}.jsonl"
    _write_session(session)
    size = session.stat().st_size / 1e6
    made = [_export(session, name, size) for name in exporters()]
    session.unlink()
    return made


def _export(session: Path, name: str, size: float) -> Row:
    begun = time.process_time()
    written = len(export_run(session, name).data) / 1e6
    speed = size / (time.process_time() - begun)
    job = f"a Claude session of {size:.0f} MB exported as {name}, read included"
    return Row(
        job, f"≥ {GOAL} MB/s", f"{speed:.0f} MB/s by processor time; {written:.0f} MB written", "", speed >= GOAL
    )
