"""One version of a kept file on its way through its parser.

Theory of operation. The parser is given whole lines only; the rest waits here. At the end of a batch a last line that
lacks only its newline is given out, too (`is_early`): the newline may never come. Where the same lines were indexed
before, in an older version or in another copy of the file, `known` holds how often, and each of them answers for one
equal line: the parser sees it, the index does not. A document is no series of lines, so there its events are compared.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from msgspec.structs import replace

from stenograph.archive.index.block import line_of
from stenograph.archive.keep.frozen_parser import SideFile
from stenograph.archive.store.pack import About
from stenograph.formats.base import Context, Format, FormatSpec, LineFormat
from stenograph.model import mend
from stenograph.model.event import Event

WINDOW = 4096
"""So many bytes before the kept end tell whether a file was only appended to."""
Lines = Counter[bytes]


class FileReading:
    """Turns the bytes of one version of a file into the events that are new."""

    def __init__(self, about: About, spec: FormatSpec, side_file: SideFile, known: Lines | None = None) -> None:
        self.is_early = False
        """The last line was given out without its newline."""
        self.is_flushed = False
        """The parser gave what it held back and cannot go on: if the file grows, a new version begins."""
        self.window = b""
        """The last bytes, up to `WINDOW`."""
        self._known = known or Lines()
        self._partial: list[bytes] = []
        self._spec = spec
        self._is_document = about.is_document
        self._is_stream = not spec.home
        self.parser: Format = spec.open(_context(about, side_file))

    @property
    def is_superseded(self) -> bool:
        """Whether what the parser told turned out to be wrong: then `tell_again` has all of it."""
        return bool(getattr(self.parser, "is_superseded", False))

    def tell_again(self, chunks: Iterable[bytes]) -> list[Event]:
        """All events of the file, of which these are the bytes; the parser goes on from there."""
        parser: Any = self._spec.open(replace(self.parser.context, is_growing=False))  # type: ignore[attr-defined]
        rest = b""
        for chunk in chunks:
            data = rest + chunk
            end = data.rfind(b"\n") + 1
            parser.feed(data[:end])
            rest = data[end:]
        if self.is_early and rest:
            parser.feed(rest + b"\n")
        events: list[Event] = parser.finish()
        parser.go_on()
        self.parser = parser
        return events

    def is_continued_by(self, data: bytes) -> bool:
        """Whether these bytes can stand after those that were read."""
        if self._is_document or self.is_flushed:
            return False
        return not self.is_early or data.startswith((b"\n", b"\r\n"))

    def know(self, known: Lines) -> None:
        """From now on, each of these lines answers for one equal line."""
        self._known = known

    def leave_to_others(self, separate: frozenset[str], already: frozenset[int]) -> None:
        """From now on, what the file repeats of these sources, and these records of its own, other files tell."""
        if isinstance(self.parser, LineFormat) and (separate or already):
            self.parser.context = replace(self.parser.context, separate=separate, already=already)

    def feed(self, data: bytes) -> list[Event]:
        """The new events of every line that is complete by now."""
        self.window = data[-WINDOW:] if len(data) >= WINDOW else (self.window + data)[-WINDOW:]
        if self._is_document:
            self._partial.append(data)
            return []
        if self.is_early:
            data = data.removeprefix(b"\r").removeprefix(b"\n")
            self.is_early = False
        end = data.rfind(b"\n") + 1
        if not end:
            self._partial.append(data)
            return []
        block = b"".join((*self._partial, data[:end])) if self._partial else data[:end]
        self._partial = [data[end:]] if end < len(data) else []
        return self._whole_lines(block)

    def settle(self) -> list[Event]:
        """The new events that the end of a batch brings: of a last line without its newline, of a document."""
        if self._is_document:
            return self._document()
        events: list[Event] = []
        if self._partial and _is_record(line := b"".join(self._partial)):
            events = self._whole_lines(line + b"\n")
            self._partial, self.is_early = [], True
        if self._is_stream and not self._partial and (held := copy.deepcopy(self.parser).finish()):
            self.is_flushed = True
            events += held
        return events

    def _whole_lines(self, block: bytes) -> list[Event]:
        if not self._known:
            return self.parser.feed(block)
        events: list[Event] = []
        for line in block.split(b"\n")[:-1]:
            found = self.parser.feed(line + b"\n")
            if not self._is_known(digest(line)):
                events += found
        return events

    def _is_known(self, key: bytes) -> bool:
        left = self._known.get(key, 0)
        if left > 1:
            self._known[key] = left - 1
        elif left:
            del self._known[key]
        return left > 0

    def _document(self) -> list[Event]:
        try:
            document, _ = mend.parse_json(b"".join(self._partial).removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):  # half written: the rest makes a new version
            return []
        records: list[Any] = document if isinstance(document, list) else [document]
        events = [event for each in records if isinstance(each, dict) for event in self.parser.feed_object(each)]
        return [event for event in events + self.parser.finish() if not self._is_known(digest(line_of(event)))]


def digest(line: bytes) -> bytes:
    """What a line is compared by."""
    return blake2b(line, digest_size=8).digest()


def lines_in(chunks: Iterable[bytes]) -> Lines:
    """How often each line stands in these bytes; a last one without newline counts when it is a whole record."""
    lines = Lines()
    partial: list[bytes] = []
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join((*partial, whole[0]))
            partial = []
            lines.update(map(digest, whole))
        if rest:
            partial.append(rest)
    if partial and _is_record(line := b"".join(partial)):
        lines[digest(line)] += 1
    return lines


def events_in(chunks: Iterable[bytes], about: About, spec: FormatSpec, side_file: SideFile) -> Lines:
    """The same for the events of a document."""
    reading = FileReading(about, spec, side_file)
    for chunk in chunks:
        reading.feed(chunk)
    return Lines(digest(line_of(event)) for event in reading.settle())


def most(counts: Iterator[Lines]) -> Lines:
    """Each line as often as where it stands most often."""
    found = Lines()
    for each in counts:
        found |= each
    return found


def _context(about: About, side_file: SideFile) -> Context:
    return Context(
        run_id=about.run_id,
        parent_run_id=about.parent_run_id,
        source=about.source,
        file=about.file,
        session_id=about.session_id,
        parent_source=about.parent_source,
        parent_call_id=about.parent_call_id,
        at=about.at,
        keep_raw=False,
        is_growing=True,
        side_file=side_file,
    )


def _is_record(line: bytes) -> bool:
    """Whether a line without its newline is whole: the beginning of an object or a list never is one."""
    try:
        return isinstance(mend.parse_json(line.removeprefix(b"\xef\xbb\xbf"))[0], dict | list)
    except (ValueError, RecursionError):
        return False
