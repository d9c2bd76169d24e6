"""The events of a run with their lines, whether a journal has them or a conversion makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from stenograph.bundle.mask import masked_text
from stenograph.journal.reader import JournalReader
from stenograph.model import Event, decode, encode, mend
from stenograph.redact.event import mask_event
from stenograph.sources.conversion import Conversion


class RunSource:
    """Events in order, each with its line; `malformed`, `torn_bytes` and `replaced` are known at the end.

    The lines of a journal are its own, byte for byte, unless they are masked. Other events that nobody numbered are
    numbered here.
    """

    def __init__(self, events: Iterable[Event], *, is_masked: bool = False, path: str = "") -> None:
        self.path = str(events.path) if isinstance(events, JournalReader) else path
        self._events = events
        self._is_masked = is_masked
        self._replaced = 0
        self._numbers: dict[str, int] = {}

    @property
    def is_journal(self) -> bool:
        """Whether every event belongs to one run, whatever its line says."""
        return isinstance(self._events, JournalReader)

    @property
    def stem(self) -> str:
        """The name of the file, without its ending; lines of a journal that name no run belong to it."""
        return Path(self.path).stem

    @property
    def size(self) -> int:
        """Bytes that a journal has so far; 0 for what is made on the way."""
        return Path(self.path).stat().st_size if self.is_journal else 0

    @property
    def malformed(self) -> int:
        """Lines that are not JSON."""
        if isinstance(self._events, JournalReader):
            return self._events.malformed
        return sum(file.report.malformed for file in self._events.files) if isinstance(self._events, Conversion) else 0

    @property
    def torn_bytes(self) -> int:
        """Of an unfinished line at the end of a journal."""
        return self._events.torn_bytes if isinstance(self._events, JournalReader) else 0

    @property
    def replaced(self) -> int:
        """Characters that no UTF-8 can hold and that became U+FFFD."""
        if isinstance(self._events, JournalReader):
            return self._events.replaced
        if isinstance(self._events, Conversion):
            return self._replaced + sum(file.report.replaced for file in self._events.files)
        return self._replaced

    def __iter__(self) -> Iterator[tuple[Event, bytes]]:
        if isinstance(self._events, JournalReader):
            yield from self._journal(self._events)
            return
        for event in self._events:
            numbered = self._numbered(event)
            yield self._masked(numbered) if self._is_masked else self._written(numbered)

    def _journal(self, reader: JournalReader) -> Iterator[tuple[Event, bytes]]:
        """The lines of a journal; blank ones stay before the next, so that each has the number that it had."""
        before = 0
        for event in reader:
            blank = b"\n" * (reader.lines - before - 1)
            before = reader.lines
            event, line = self._masked(event) if self._is_masked else (event, reader.line)
            yield event, blank + line

    def _numbered(self, event: Event) -> Event:
        if event.seq != 0:
            return event
        number = self._numbers[event.run_id] = self._numbers.get(event.run_id, 0) + 1
        return replace(event, seq=number)

    def _masked(self, event: Event) -> tuple[Event, bytes]:
        """Masked in every field, also in names and places, which a mask of a recorder leaves alone."""
        event, line = self._written(mask_event(event))
        masked = masked_text(line)
        return (event, line) if masked == line else (decode(masked), masked)

    def _written(self, event: Event) -> tuple[Event, bytes]:
        try:
            return event, encode(event)
        except UnicodeEncodeError:
            event, replaced = mend.without_surrogates(event)
            self._replaced += replaced
            return event, encode(event)
