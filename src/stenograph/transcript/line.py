"""The places of a run's events: the source line, or the number in the journal, that each was first written at.

An entry's id is derived from its place, so the place must be the same in every reading of the run: in the log, in the
session, in the journal, in a bundle and in the archive, whatever numbers each of them gives.

Theory of operation. One source line may give several events, and only the first of them has the line's raw text. So
the events of a line are counted, per run, source and file. Within a file the lines of a source come in their order. A
line before the previous one was written again (the agent compacted its file, or a damaged journal repeats
itself): from there on the places belong to the next pass. An event without a line has its number in the journal, and
an event that was never stored its number among those without a line.
"""

from __future__ import annotations

from msgspec import Struct

from stenograph.model.event import Event

_SOURCE_LINE, _STORED, _COUNTED = "L", "S", "N"


class Line(Struct):
    """The source line that the current events of one source and file come from."""

    kind: str
    file: str
    number: int = 0
    passes: int = 0
    """How often the line numbers started again."""
    events: int = 0
    """Events of this line before the current one."""
    raw: str | None = None
    first: int = 0
    """The number of the line's first entry; 0 until it has one."""

    @property
    def has_source_line(self) -> bool:
        """Whether events say that they are of this line; else each event is a line of its own."""
        return self.kind == _SOURCE_LINE


class Lines:
    """The lines that the events of a run come from, one event after the other."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str, str | None], Line] = {}
        self._current = Line(_COUNTED, "")

    def of(self, event: Event, source: str) -> Line:
        """The line of the next event."""
        origin = event.origin
        # Only the first event of a line has its raw text, so another raw text is another line, also at the same place.
        # It counts for what the entries carry, not for their places: the archive has the events without it.
        begins = event.raw is not None or event.raw_b64 is not None
        kind, number, file = _COUNTED, event.seq, None
        if origin is not None and origin.line is not None:
            kind, number, file = _SOURCE_LINE, origin.line, origin.file
        elif origin is not None and origin.seq is not None:
            kind, number, begins = _STORED, origin.seq, True
        elif number > 0:
            kind, begins = _STORED, True
        key = (kind, event.run_id, source, file)
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = Line(kind, file or "", number or 1, raw=event.raw)
        elif kind == _COUNTED:
            line.number, line.raw, line.first = line.number + 1, event.raw, 0
        elif line.number != number:
            line.passes += number < line.number
            line.number, line.events, line.raw, line.first = number, 0, event.raw, 0
        else:
            line.events += 1
            if begins:
                line.raw, line.first = event.raw, 0
        self._current = line
        return line

    def place(self, entry: int) -> str:
        """The place of the current event's entry, counted from 0."""
        line = self._current
        return f"{line.kind}{line.number}.{line.passes}.{line.events}.{entry} {line.file}"
