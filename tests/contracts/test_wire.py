"""WIRE.md, line by line: each event as written, and the entries it projects to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from stenograph.model import decode, encode
from stenograph.transcript import Projector

CASES: list[dict[str, Any]] = [
    msgspec.json.decode(line) for line in Path(__file__).with_name("wire_examples.jsonl").read_bytes().splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_an_event_is_written_exactly_as_the_wire_says(case: dict[str, Any]) -> None:
    """Bytes in, equal bytes out: field order, required fields, absent fields."""
    line = msgspec.json.encode(case["event"])
    assert encode(decode(line)) == line


def test_events_project_to_the_entries_of_the_wire() -> None:
    """The examples are one run, in order; numbers, names and provider fields follow from it."""
    projector = Projector()
    for case in CASES:
        got = [entry.as_dict() for entry in projector.feed(decode(msgspec.json.encode(case["event"])))]
        assert got == case["entries"], case["case"]
