"""TranscriptSummary: a transcript in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from stenograph.transcript.entry import TranscriptEntry


@dataclass(frozen=True, slots=True)
class TranscriptSummary:
    """The number of entries by type and by source, and the first and last time."""

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


class Tally:
    """Counts a transcript entry by entry, without keeping the entries."""

    def __init__(self) -> None:
        self.by_type: Counter[str] = Counter()
        self.by_source: Counter[str] = Counter()
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._adapter = self._prompt_name = ""

    def add(self, entry: TranscriptEntry) -> None:
        """Count one more."""
        self.count(entry.entry_type, entry.source, entry.timestamp, entry.adapter, entry.prompt_name)

    def count(self, entry_type: str, source: str, moment: datetime, adapter: str, prompt_name: str) -> None:
        """Count an entry by its fields, so that the entry itself need not be made."""
        if self._first is None or self._last is None:
            self._adapter, self._prompt_name = adapter, prompt_name
            self._first = self._last = moment
        elif moment > self._last:
            self._last = moment
        elif moment < self._first:
            self._first = moment
        self.by_type[entry_type] += 1
        self.by_source[source] += 1

    def summary(self) -> TranscriptSummary:
        """What was counted so far."""
        return TranscriptSummary(
            total_entries=self.by_type.total(),
            entries_by_type=dict(self.by_type),
            entries_by_source=dict(self.by_source),
            sources=tuple(self.by_source),
            adapter=self._adapter,
            prompt_name=self._prompt_name,
            first_timestamp=self._first,
            last_timestamp=self._last,
        )


def summarize(entries: Iterable[TranscriptEntry]) -> TranscriptSummary:
    """Count a transcript's entries by type and source."""
    tally = Tally()
    for entry in entries:
        tally.add(entry)
    return tally.summary()
