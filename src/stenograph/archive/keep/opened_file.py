"""A kept file that takes part in a batch, with its cursor where it stopped.

A line that was indexed before, in an older version or in another copy of the file, is parsed and not indexed again;
each such line accounts for one equal line. A document is not a series of lines, so its events are compared instead:
digests of the events of all its versions are kept, so that a new version is read once and no older one again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Self

from msgspec.structs import replace

from stenograph.archive.index.chunk import line_of
from stenograph.archive.keep.parser_state import UnknownState, dump_state, load_state, program_of
from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.uninstalled import format_of_kept
from stenograph.archive.store.kept_file import KeptBytes, KeptFile
from stenograph.archive.store.kept_files import KeptFiles
from stenograph.archive.store.pack import About
from stenograph.errors import FormatFailed
from stenograph.formats.base import FormatSpec, GrowingFormat, LineFormat
from stenograph.formats.shared.side_text import side_text
from stenograph.model.event import Event
from stenograph.sources.cursor import FileCursor, is_record, opened_by
from stenograph.sources.known import LineCounts, digest_of
from stenograph.sources.layout import SideFile as LiveSide
from stenograph.sources.ranges import Ranges


class SideFiles:
    """Reads side files for a parser: from the agent's folder, keeping what is new, or else from what is kept."""

    def __init__(self, kept: LiveSide, live: LiveSide | None = None) -> None:
        self._kept = kept
        self._live = live
        self.found: Callable[[str, bytes], None] | None = None

    def renew(self, live: LiveSide | None) -> None:
        """Read from these live files from now on."""
        self._live = live

    def __deepcopy__(self, memo: object) -> Self:
        """A copy of a parser uses the same side files."""
        return self

    def __call__(self, name: str) -> str | None:
        kept = self._kept(name)
        data = None if self._live is None else self._live(name)
        if data is None:
            data = kept
        elif data != kept and self.found is not None:
            self.found(name, data)
        return None if data is None else side_text(name, data)


class OpenedFile:
    """One file, its format, and how far it was read."""

    def __init__(
        self, file: KeptFile, spec: FormatSpec, side: SideFiles, cursor: FileCursor, ranges: Ranges, indexed: LineCounts
    ) -> None:
        """`indexed` counts the lines, of a document the events, that were indexed before."""
        self.file = file
        self.spec = spec
        self.side = side
        self.cursor = cursor
        self.ranges = ranges
        self.digests: list[tuple[int, bytes]] = []
        """The ranges that became whole by what was fed: the number of the first of them, and their digests."""
        self.problem: FormatFailed | None = None
        """What the format raised, if it did."""
        self._indexed = indexed
        self._counts = indexed
        cursor.emitted = indexed
        cursor.path = file.about.path

    def state(self) -> bytes:
        """What `FileOpener` needs to go on: the cursor; of a document, how often each event came so far."""
        return dump_state(self._counts if self.file.about.is_document else (self.cursor, self.ranges), self.side)

    def exclude(self, separate: frozenset[str], already: frozenset[int]) -> None:
        """Leave out what the file repeats of these sources, and these records: other files have them."""
        parser = self.cursor.parser
        if isinstance(parser, LineFormat) and (separate or already):
            parser.context = replace(parser.context, separate=separate, already=already)

    def feed(self, data: bytes) -> list[Event]:
        """The new events in the next bytes of the file."""
        self.file.kept += len(data)
        first = self.ranges.whole
        self.ranges.feed(data)
        if digests := self.ranges.take():
            self.digests.append((first, digests))
        return self._read(lambda: self.cursor.feed(data))

    def _read(self, read: Callable[[], list[Event]]) -> list[Event]:
        """The events that the parser gives; none where it raises something, which is noted: the bytes are kept."""
        try:
            return read()
        except FormatFailed as error:
            self.problem = self.problem or error
            return []

    def report_to(self, summary: Summary) -> None:
        """Report what the format raised, once."""
        problem, self.problem = self.problem, None
        if problem is not None:
            summary.fail(problem)

    def settle(self) -> list[Event]:
        """The new events at the end of a batch: those of a last line without its newline, and of a document."""
        events = self._read(self.cursor.settle)
        if self.file.about.is_document:
            return self._new_in_document(events)
        # A stream is over when nothing comes any more; an agent's own file grows.
        holds_back = self.spec.kind == "stream" and not isinstance(self.cursor.parser, GrowingFormat)
        if holds_back and not self.cursor.partial:
            events += self._read(self.cursor.flush)
        return events

    def _new_in_document(self, events: list[Event]) -> list[Event]:
        digests = [digest_of(line_of(event)) for event in events]
        self._counts = LineCounts(self._indexed | LineCounts(digests))
        return [event for event, digest in zip(events, digests, strict=True) if not self._indexed.take(digest)]

    @property
    def is_superseded(self) -> bool:
        """Whether earlier events turned out to be wrong: then `parse_again` gives all events."""
        parser = self.cursor.parser if self.cursor.is_open else None
        return isinstance(parser, GrowingFormat) and parser.is_superseded

    def parse_again(self, chunks: Iterable[bytes]) -> list[Event]:
        """All events of the file with these bytes; reading goes on from there."""
        parser = self.spec.open(self.file.about.context(keep_raw=False, side_file=self.side))
        assert isinstance(parser, GrowingFormat)
        cursor = FileCursor(lambda: parser)
        for chunk in chunks:
            cursor.feed(chunk)
        cursor.settle()
        events = parser.finish()
        parser.go_on()
        cursor.emitted = self._indexed
        self.cursor = cursor
        return events

    def read_again(self, chunks: Iterable[bytes]) -> None:
        """Read the bytes of a batch that is in the index already."""
        for chunk in chunks:
            self.ranges.feed(chunk)
            self._read(partial(self.cursor.feed, chunk))
        self.settle()
        self.ranges.take()


class FileOpener:
    """Opens files for one batch, by what earlier batches kept."""

    def __init__(self, files: KeptFiles, kept: KeptBytes, before: int) -> None:
        self._files = files
        self._kept = kept
        self._before = before

    def start(self, file: KeptFile, side: SideFiles, state: tuple[str, bytes] | None = None) -> OpenedFile:
        """Open a file at the beginning of a (new) version; a document with the state after the version before."""
        spec = format_of_kept(file.about.format)
        counts = _loaded_state(state, spec, side) if file.about.is_document and state is not None else None
        versions = self._versions_of_same_source(file)
        if not isinstance(counts, LineCounts):
            versions += [(file, number) for number in range(1, file.version)]
        indexed = _most(self._indexed_by(each, number, spec, side) for each, number in versions)
        if isinstance(counts, LineCounts):
            indexed |= counts
        return OpenedFile(file, spec, side, cursor_of(file.about, spec, side), Ranges(), indexed)

    def resume(self, file: KeptFile, side: SideFiles, state: tuple[str, bytes] | None) -> OpenedFile:
        """Open a file with the cursor of a state; without a valid one, by reading again what is kept."""
        spec = format_of_kept(file.about.format)
        match None if state is None else _loaded_state(state, spec, side):
            case (FileCursor() as cursor, Ranges() as ranges):
                pass
            case _:
                return self._read_again(file, side)
        indexed = cursor.emitted if isinstance(cursor.emitted, LineCounts) else LineCounts()
        if twins := self._versions_of_same_source(file):
            indexed = _most(self._indexed_by(twin, number, spec, side) for twin, number in twins)
            indexed -= self._indexed_by(file, file.version, spec, side)
        return OpenedFile(file, spec, side, cursor, ranges, indexed)

    def _read_again(self, file: KeptFile, side: SideFiles) -> OpenedFile:
        opened = self.start(file, side)
        for _, chunks in self._kept.batches(file.id, file.version, self._before, is_tolerant=True):
            opened.read_again(chunks)
        return opened

    def _versions_of_same_source(self, file: KeptFile) -> list[tuple[KeptFile, int]]:
        return [(twin, number) for twin in self._files.same_source(file) for number in range(1, twin.version + 1)]

    def _indexed_by(self, file: KeptFile, version: int, spec: FormatSpec, side: SideFiles) -> LineCounts:
        chunks = self._kept.sound_chunks(file.id, version, self._before)
        return _events_in(chunks, file.about, spec, side) if file.about.is_document else lines_in(chunks)


def cursor_of(about: About, spec: FormatSpec, side: Callable[[str], str | None]) -> FileCursor:
    """A cursor at the beginning of a kept file."""
    context = about.context(keep_raw=False, is_growing=True, side_file=side)
    return FileCursor(partial(opened_by, spec, context, about.path), is_document=about.is_document)


def lines_in(chunks: Iterable[bytes]) -> LineCounts:
    """How often each line is in these bytes; a last line without newline counts when it is a whole record."""
    lines = LineCounts()
    rest: list[bytes] = []
    for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join((*rest, whole[0]))
            rest = []
            lines.update(map(digest_of, whole))
        if last:
            rest.append(last)
    if rest and is_record(line := b"".join(rest)):
        lines[digest_of(line)] += 1
    return lines


def _events_in(chunks: Iterable[bytes], about: About, spec: FormatSpec, side: SideFiles) -> LineCounts:
    """How often each event is in a document."""
    cursor = cursor_of(about, spec, side)
    for chunk in chunks:
        cursor.feed(chunk)
    return LineCounts(digest_of(line_of(event)) for event in cursor.settle())


def _most(counts: Iterator[LineCounts]) -> LineCounts:
    """For each line, the highest of its counts."""
    found = LineCounts()
    for each in counts:
        found |= each
    return found


def _loaded_state(state: tuple[str, bytes], spec: FormatSpec, side: SideFiles) -> Any:
    """What `OpenedFile.state` wrote; None where another program wrote it."""
    program, data = state
    try:
        return load_state(data, spec, side) if program == program_of(spec) else None
    except UnknownState:
        return None
