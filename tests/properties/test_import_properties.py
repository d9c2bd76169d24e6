"""A run that was exported and read back: what the export carried is there again, or a report names it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given

from golden_cases import CASES, run_of, sampled
from stenograph.errors import InvalidTarget
from stenograph.export.exporter import exporter_named
from stenograph.fold.losses import LossReport
from stenograph.formats.base import Context
from stenograph.formats.registry import formats
from stenograph.formats.shared.importing import ImportFormat
from stenograph.model import Event
from strategies import BRIEF, runs

READERS = {"atif": "atif", "inspect": "inspect_log"}
ADDED = {"atif": ("system events",), "inspect": ("system events",)}
"""What a reader tells beside what was exported: facts of the file itself."""


def told_apart(carried: dict[str, int]) -> Counter[str]:
    """The counts; an event of a type that nobody knows comes back as an unknown one, whatever its type is called."""
    counts = Counter(carried)
    counts["unknown events"] += counts.pop("lifecycle events", 0)
    return counts


def check_way_back(name: str, events: list[Event]) -> None:
    """Compare the accounts of the way there and of the way back, kind by kind."""
    there = LossReport(name)
    try:
        data = b"".join(each for each in exporter_named(name)(events, there) if isinstance(each, bytes))
    except InvalidTarget:
        return
    parser = formats()[READERS[name]].open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
    assert isinstance(parser, ImportFormat)
    parser.feed_object(json.loads(data))
    parser.finish()
    back = parser.losses
    assert parser.report.failed == 0
    lost = Counter[str]()
    for line in back.dropped:
        lost[line["what"].partition(":")[0]] += line["count"]
    carried = told_apart(back.carried)
    for kind, count in told_apart(there.carried).items():
        found = carried[kind] + lost[kind]
        named = sum(line["count"] for line in there.changed if line["what"].partition(":")[0] == kind)
        assert found >= count - named, (kind, count, found, there.to_dict(), back.to_dict())
        assert found <= count or kind in ADDED[name], (kind, count, found)


@pytest.mark.parametrize("name", READERS)
@BRIEF
@given(runs(8))
def test_what_any_export_carries_comes_back(name: str, run: list[Event]) -> None:
    """Each text, thought, call, result and report of usage, whatever the ids and the order of the run are."""
    check_way_back(name, run)


@pytest.mark.parametrize("case", sampled(CASES))
def test_what_is_exported_of_a_real_transcript_comes_back(case: Path) -> None:
    """The same, for what agents really wrote, in every format that is written and read."""
    for name in READERS:
        check_way_back(name, run_of(case))
