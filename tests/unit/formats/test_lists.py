"""Formats whose files are lists of records: on one line, over many, or a record a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from golden_cases import FOLDER
from stenograph.model import Event
from stenograph.sources.conversion import convert
from stenograph.sources.detection import detect_file

LISTS = ("openhands_v0/actions",)


def told(path: Path) -> list[tuple[str, str, object]]:
    """The events without their numbers and places."""
    events: list[Event] = list(convert(path))
    return [(event.type, event.timestamp, event.payload) for event in events]


@pytest.mark.parametrize("case", LISTS)
def test_a_list_is_its_records(case: str, tmp_path: Path) -> None:
    """However it is broken into lines, it is detected, and says the same."""
    lines = FOLDER / case / "input.jsonl"
    records = [json.loads(line) for line in lines.read_bytes().splitlines()]
    flat, pretty = tmp_path / "flat.json", tmp_path / "pretty.json"
    flat.write_text(json.dumps(records))
    pretty.write_text(json.dumps(records, indent=2))
    for path in (flat, pretty):
        found = detect_file(path)
        assert found.spec is not None
        assert found.spec.name == case.partition("/")[0]
        assert told(path) == told(lines)
