"""The events of a run with their lines, from a journal or from a conversion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from stenograph.bundle.mask import BundleMask
from stenograph.journal.reader import JournalReader
from stenograph.model import Event, encode, mend
from stenograph.model.codec import encode_pieces
from stenograph.model.pieces import LONG
from stenograph.sources.conversion import Conversion


class LongLine:
    """The line of an event whose source line is long: made in pieces, each time it is iterated."""

    def __init__(self, event: Event) -> None:
        self._event = event

    def __iter__(self) -> Iterator[bytes | memoryview]:
        return encode_pieces(self._event)

    def __len__(self) -> int:
        """About how many bytes it has."""
        return 2 * len(self._event.raw or "")


Line = bytes | LongLine


class RunSource:
    """Events in order, each with its line; `malformed`, `torn_bytes` and `replaced` are known at the end.

    The lines of a journal are its own, byte for byte, unless they are masked. Other events without a number are
    numbered here.
    """

    def __init__(
        self,
        events: Iterable[Event],
        *,
        mask: BundleMask | None = None,
        path: str = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`progress` is called with the bytes done and their total, which is 0 where it is not known."""
        self._progress = progress
        self.path = str(events.path) if isinstance(events, JournalReader) else path
        self._events = events
        self._mask = mask
        self._replaced = 0
        self._numbers: dict[str, int] = {}

    @property
    def is_journal(self) -> bool:
        """Whether every event belongs to one run, whatever its line says."""
        return isinstance(self._events, JournalReader)

    @property
    def stem(self) -> str:
        """The name of the file, without its ending; it is the run id of journal lines that name no run."""
        stem = Path(self.path).stem
        return stem if self._mask is None else self._mask.text(stem)

    @property
    def size(self) -> int:
        """The size of a journal so far; 0 for events of a conversion."""
        return Path(self.path).stat().st_size if self.is_journal else 0

    @property
    def malformed(self) -> int:
        """Lines that are not JSON."""
        if isinstance(self._events, JournalReader):
            return self._events.malformed
        return sum(file.report.malformed for file in self._events.files) if isinstance(self._events, Conversion) else 0

    @property
    def torn_bytes(self) -> int:
        """Bytes of an unfinished line at the end of a journal."""
        return self._events.torn_bytes if isinstance(self._events, JournalReader) else 0

    @property
    def replaced(self) -> int:
        """Characters that no UTF-8 can hold and that became U+FFFD."""
        if isinstance(self._events, JournalReader):
            return self._events.replaced
        if isinstance(self._events, Conversion):
            return self._replaced + sum(file.report.replaced for file in self._events.files)
        return self._replaced

    def __iter__(self) -> Iterator[tuple[Event, Line]]:
        done, size = 0, self.size
        for pair in self._lines():
            done += len(pair[1]) + 1
            if self._progress is not None:
                self._progress(done, size)
            yield pair
            del pair  # which may be large

    def _lines(self) -> Iterator[tuple[Event, Line]]:
        reader = self._events
        if isinstance(reader, JournalReader) and self._mask is None:
            yield from ((event, blank + reader.line) for event, blank in self._journal(reader))
            return
        events = self._journal(reader) if isinstance(reader, JournalReader) else self._made()
        for event, blank in events if self._mask is None else self._mask.events(events):
            yield self._written(event, blank)
            del event

    def _journal(self, reader: JournalReader) -> Iterator[tuple[Event, bytes]]:
        """The events of a journal, each with the blank lines before it, so that line numbers stay the same."""
        before = 0
        for event in reader:
            blank = b"\n" * (reader.lines - before - 1)
            before = reader.lines
            yield event, blank

    def _made(self) -> Iterator[tuple[Event, bytes]]:
        return ((self._numbered(event), b"") for event in self._events)

    def _numbered(self, event: Event) -> Event:
        if event.seq != 0:
            return event
        number = self._numbers[event.run_id] = self._numbers.get(event.run_id, 0) + 1
        return replace(event, seq=number)

    def _written(self, event: Event, blank: bytes) -> tuple[Event, Line]:
        if not blank and event.raw is not None and len(event.raw) >= LONG:
            return self._mended(event)
        try:
            return event, blank + encode(event)
        except UnicodeEncodeError:
            event, _ = self._mended(event)
            return event, blank + encode(event)

    def _mended(self, event: Event) -> tuple[Event, LongLine]:
        event, replaced = mend.without_surrogates(event)
        self._replaced += replaced
        return event, LongLine(event)
