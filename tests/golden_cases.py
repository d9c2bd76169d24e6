"""The golden cases: real transcripts with the events they must give."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from stenograph.model import Event, decode

FOLDER = Path(__file__).parent / "golden"
CASES = sorted(path.parent for path in FOLDER.glob("*/*/origin.md"))


def sampled(cases: Sequence[Path]) -> list[Any]:
    """For what is slow: the first and every fourth case of each format; the others are for `make scale`.

    That each case gives its events is tested with all of them (`golden/test_golden.py`).
    """
    params = []
    for _, group in groupby(cases, key=lambda case: case.parent.name):
        for number, case in enumerate(group):
            marks = [] if number % 4 == 0 else [pytest.mark.scale]
            params.append(pytest.param(case, marks=marks, id=name_of(case)))
    return params


def input_of(case: Path) -> Path:
    """The file or folder to convert."""
    (found,) = case.glob("input*")
    return found


def files_of(case: Path) -> list[Path]:
    """Every transcript file of a case."""
    found = input_of(case)
    return [found] if found.is_file() else sorted([*found.rglob("*.jsonl"), *found.rglob(".*.md")])


def name_of(case: Path) -> str:
    """`<format>/<case>`."""
    return f"{case.parent.name}/{case.name}"


def run_of(case: Path) -> list[Event]:
    """The events of the first run of a case."""
    events = [decode(line) for line in (case / "expected.jsonl").read_bytes().splitlines()]
    return [event for event in events if event.run_id == events[0].run_id]


def first_run_of(case: Path) -> str:
    """The id of the first run of a case."""
    return run_of(case)[0].run_id
