"""TranscriptSummary as the newest document defines it."""

from __future__ import annotations

import dataclasses
import inspect
from datetime import UTC, datetime
from typing import Any

from stenograph.transcript import TranscriptEntry, TranscriptSummary, summarize


def _entry(entry_type: str, hour: int, source: str = "main", **more: Any) -> TranscriptEntry:
    given: dict[str, Any] = {"prompt_name": "review", "adapter": "claude_code", "sequence_number": 1} | more
    return TranscriptEntry(
        entry_type=entry_type, source=source, timestamp=datetime(2026, 6, 8, hour, tzinfo=UTC), **given
    )


def test_the_fields_are_the_documents() -> None:
    """Eight of them, in this order, frozen."""
    assert list(inspect.signature(TranscriptSummary).parameters) == [
        "total_entries",
        "entries_by_type",
        "entries_by_source",
        "sources",
        "adapter",
        "prompt_name",
        "first_timestamp",
        "last_timestamp",
    ]
    assert dataclasses.is_dataclass(TranscriptSummary)


def test_a_transcript_in_numbers() -> None:
    """Counts by type and source, sources as they appear, names of the first entry, the earliest and latest time."""
    transcript = [
        _entry("user_message", 9),
        _entry("assistant_message", 8, "subagent:a", adapter="other", prompt_name="other"),
        _entry("assistant_message", 11),
        _entry("tool_use", 10, "subagent:a"),
    ]
    assert summarize(transcript) == TranscriptSummary(
        total_entries=4,
        entries_by_type={"user_message": 1, "assistant_message": 2, "tool_use": 1},
        entries_by_source={"main": 2, "subagent:a": 2},
        sources=("main", "subagent:a"),
        adapter="claude_code",
        prompt_name="review",
        first_timestamp=datetime(2026, 6, 8, 8, tzinfo=UTC),
        last_timestamp=datetime(2026, 6, 8, 11, tzinfo=UTC),
    )


def test_nothing_in_numbers() -> None:
    """An empty transcript has no times, no names and no counts."""
    assert summarize([]) == TranscriptSummary(
        total_entries=0,
        entries_by_type={},
        entries_by_source={},
        sources=(),
        adapter="",
        prompt_name="",
        first_timestamp=None,
        last_timestamp=None,
    )


def test_counts_are_plain_dicts() -> None:
    """A type that did not occur is absent, not zero: they compare and print as JSON does."""
    assert type(summarize([_entry("error", 9)]).entries_by_type) is dict
