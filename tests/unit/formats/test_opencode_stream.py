"""opencode_stream: lines that golden cases do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from comparison import count, different, oracle, parsed
from golden_cases import CASES
from stenograph.formats.base import Context, run_id_of
from stenograph.formats.opencode_stream import SPEC
from stenograph.model import Event

STREAMS = [case for case in CASES if case.parent.name == "opencode_stream"]


def fed(*records: dict[str, Any]) -> list[Event]:
    parser = SPEC.open(Context(run_id="550e8400-e29b-41d4-a716-446655440000"))
    return [event for record in records for event in parser.feed_object(record)]


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.name)
def test_an_independent_count_finds_the_same(case: Path) -> None:
    """Tools, words and tokens of every golden case, counted with nothing but `json`."""
    events, report = parsed(SPEC, case / "input.jsonl")
    ours, theirs = count(events, report), oracle("opencode_stream").count(case / "input.jsonl")
    assert different(ours, theirs) == []
    assert not report.unknown_types


def test_an_error_line_is_an_error() -> None:
    """As OpenCode's source writes it: the error's name, and what it says."""
    line = {"type": "error", "timestamp": 1794770040215, "sessionID": "ses_1"}
    (event,) = fed({**line, "error": {"name": "UnknownError", "data": {"message": "it broke"}}})
    assert (event.type, event.payload.message, event.payload.code) == ("error", "it broke", "UnknownError")
    assert event.timestamp == "2026-11-15T19:14:00.215000Z"
    assert SPEC.detect([{**line, "error": {}}], "")


def test_the_run_is_that_of_the_database() -> None:
    """Stream and database of one session are one run."""
    identity = SPEC.identify([{"type": "text", "sessionID": "ses_1"}], "")
    assert identity.run_id(SPEC.name, "stdout") == run_id_of("opencode", "ses_1")
    assert identity.session_id == "ses_1"


def test_a_line_of_another_kind_is_unknown() -> None:
    """What nobody knows is kept, and counted."""
    (event,) = fed({"type": "surprise", "timestamp": 1, "sessionID": "ses_1"})
    assert event.type == "unknown"
