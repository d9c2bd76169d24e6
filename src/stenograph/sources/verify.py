"""Checking an agent's file: can all of it be read, and did every call get its result?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from msgspec import Struct

from stenograph.fold.open_ends import OpenEnds
from stenograph.sources.conversion import convert


class AgentFileReport(Struct, frozen=True, kw_only=True):
    """What a check of an agent's file found."""

    path: str
    ok: bool
    """Every line could be read."""
    format: str
    run_id: str | None
    lines: int
    events: int
    malformed: int
    failed: int
    """Lines on which our own parser failed."""
    unknown_types: dict[str, int]
    open_calls: tuple[str, ...]
    """Tool calls without a result."""
    wanted_files: tuple[str, ...]
    """Side files that do not exist any more."""


def verify_agent_file(path: Path) -> AgentFileReport:
    """Read an agent's file with everything that belongs to it, and say what is wrong with it."""
    conversion = convert(path, keep_raw=False)
    ends = OpenEnds()
    events = 0
    run_id = None
    for event in conversion:
        events += 1
        run_id = run_id or event.run_id
        ends.add(event)
    reports = [file.report for file in conversion.files]
    malformed = sum(report.malformed for report in reports)
    failed = sum(report.failed for report in reports)
    return AgentFileReport(
        path=str(path),
        ok=malformed == 0 and failed == 0,
        format=conversion.files[0].format or "",
        run_id=run_id,
        lines=sum(report.lines for report in reports),
        events=events,
        malformed=malformed,
        failed=failed,
        unknown_types=dict(sum((report.unknown_types for report in reports), Counter())),
        open_calls=tuple(end.what for end in ends.remaining() if end.kind == "open_call"),
        wanted_files=tuple(name for report in reports for name in report.wanted_files),
    )
