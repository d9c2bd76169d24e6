"""TranscriptSummary: a transcript in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from stenograph.transcript.entry import TranscriptEntry


@dataclass(frozen=True, slots=True)
class TranscriptSummary:
    """How much of what a transcript holds, and from when to when."""

    total_entries: int
    entries_by_type: dict[str, int]
    entries_by_source: dict[str, int]
    sources: tuple[str, ...]
    """In order of first appearance."""
    adapter: str
    """Of the first entry; empty for an empty transcript."""
    prompt_name: str
    first_timestamp: datetime | None
    last_timestamp: datetime | None


def summarize(entries: Iterable[TranscriptEntry]) -> TranscriptSummary:
    """Count a transcript's entries by type and source."""
    by_type: Counter[str] = Counter()
    by_source: Counter[str] = Counter()
    first = last = None
    adapter = prompt_name = ""
    for entry in entries:
        if not by_type:
            adapter, prompt_name = entry.adapter, entry.prompt_name
        by_type[entry.entry_type] += 1
        by_source[entry.source] += 1
        first = entry.timestamp if first is None else min(first, entry.timestamp)
        last = entry.timestamp if last is None else max(last, entry.timestamp)
    return TranscriptSummary(
        total_entries=by_type.total(),
        entries_by_type=dict(by_type),
        entries_by_source=dict(by_source),
        sources=tuple(by_source),
        adapter=adapter,
        prompt_name=prompt_name,
        first_timestamp=first,
        last_timestamp=last,
    )
