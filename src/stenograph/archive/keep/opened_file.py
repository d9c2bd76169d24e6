"""A kept file that takes part in a batch, with its cursor where it stopped.

Where the same lines were indexed before, in an older version or in another copy of the file, each of them answers for
one equal line: the parser sees it, the index does not. A document is not a series of lines, so there its events are
compared: what all its versions told is kept as digests, so that a new version is read once and no older one again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Self

from msgspec.structs import replace

from stenograph.archive.index.block import line_of
from stenograph.archive.keep.frozen_parser import UnknownState, freeze, program_of, thaw
from stenograph.archive.store.catalog import Catalog
from stenograph.archive.store.kept_file import KeptBytes, KeptFile
from stenograph.archive.store.pack import About
from stenograph.formats.base import FormatSpec, GrowingFormat, LineFormat
from stenograph.formats.shared.side_text import side_text
from stenograph.model.event import Event
from stenograph.sources.cursor import FileCursor, is_record
from stenograph.sources.detection import format_named
from stenograph.sources.known import LineCounts, digest_of
from stenograph.sources.layout import SideFile as LiveSide
from stenograph.sources.ranges import Ranges


class Side:
    """Gives a parser the side files it asks for: those that are kept, or first keeps those that are there."""

    def __init__(self, kept: LiveSide, live: LiveSide | None = None) -> None:
        self._kept = kept
        self._live = live
        self.found: Callable[[str, bytes], None] | None = None

    def renew(self, live: LiveSide | None) -> None:
        """From now on, these are the files that are there."""
        self._live = live

    def __deepcopy__(self, memo: object) -> Self:
        """A copy of a parser asks the same one."""
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
        self, file: KeptFile, spec: FormatSpec, side: Side, cursor: FileCursor, ranges: Ranges, given: LineCounts
    ) -> None:
        """`given` are the lines, of a document the events, that were indexed before."""
        self.file = file
        self.spec = spec
        self.side = side
        self.cursor = cursor
        self.ranges = ranges
        self.digests: list[tuple[int, bytes]] = []
        """Of the ranges that became whole by what was fed: the number of the first of them, and their digests."""
        self._given = given
        self._told = given
        cursor.given = given

    def state(self) -> bytes:
        """What `Opening` needs to go on: the cursor; of a document, how often each event was told by now."""
        return freeze(self._told if self.file.about.is_document else (self.cursor, self.ranges), self.side)

    def leave_to_others(self, separate: frozenset[str], already: frozenset[int]) -> None:
        """From now on, what the file repeats of these sources, and these records of its own, other files tell."""
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
        return self.cursor.feed(data)

    def settle(self) -> list[Event]:
        """The new events that the end of a batch brings: of a last line without its newline, of a document."""
        events = self.cursor.settle()
        if self.file.about.is_document:
            return self._new_in_document(events)
        # A stream is over when nothing comes any more; an agent's own file grows.
        holds_back = self.spec.kind == "stream" and not isinstance(self.cursor.parser, GrowingFormat)
        if holds_back and not self.cursor.partial:
            events += self.cursor.flush()
        return events

    def _new_in_document(self, events: list[Event]) -> list[Event]:
        digests = [digest_of(line_of(event)) for event in events]
        self._told = LineCounts(self._given | LineCounts(digests))
        return [event for event, digest in zip(events, digests, strict=True) if not self._given.take(digest)]

    @property
    def is_superseded(self) -> bool:
        """Whether what the parser told turned out to be wrong: then `tell_again` has all of it."""
        parser = self.cursor.parser if self.cursor.is_open else None
        return isinstance(parser, GrowingFormat) and parser.is_superseded

    def tell_again(self, chunks: Iterable[bytes]) -> list[Event]:
        """All events of the file, of which these are the bytes; reading goes on from there."""
        parser = self.spec.open(self.file.about.context(keep_raw=False, side_file=self.side))
        assert isinstance(parser, GrowingFormat)
        cursor = FileCursor(lambda: parser)
        for chunk in chunks:
            cursor.feed(chunk)
        cursor.settle()
        events = parser.finish()
        parser.go_on()
        cursor.given = self._given
        self.cursor = cursor
        return events

    def read_again(self, chunks: Iterable[bytes]) -> None:
        """Take bytes of a batch that is in the index already."""
        for chunk in chunks:
            self.ranges.feed(chunk)
            self.cursor.feed(chunk)
        self.settle()
        self.ranges.take()


class Opening:
    """Opens files for one batch, so that what earlier batches kept is read as it was."""

    def __init__(self, catalog: Catalog, kept: KeptBytes, before: int) -> None:
        self._catalog = catalog
        self._kept = kept
        self._before = before

    def at_the_beginning(self, file: KeptFile, side: Side, state: tuple[str, bytes] | None = None) -> OpenedFile:
        """At the beginning of a (new) version; of a document, with the state after the one before."""
        spec = format_named(file.about.format)
        told = _thawed(state, spec, side) if file.about.is_document and state is not None else None
        versions = self._versions_of_twins(file)
        if not isinstance(told, LineCounts):
            versions += [(file, number) for number in range(1, file.version)]
        given = _most(self._given_by(each, number, spec, side) for each, number in versions)
        if isinstance(told, LineCounts):
            given |= told
        return OpenedFile(file, spec, side, cursor_of(file.about, spec, side), Ranges(), given)

    def where_it_stopped(self, file: KeptFile, side: Side, state: tuple[str, bytes] | None) -> OpenedFile:
        """With the cursor of that state; without one, or with one of another program, by reading what is kept."""
        spec = format_named(file.about.format)
        match None if state is None else _thawed(state, spec, side):
            case (FileCursor() as cursor, Ranges() as ranges):
                pass
            case _:
                return self._read_again(file, side)
        given = cursor.given if isinstance(cursor.given, LineCounts) else LineCounts()
        if twins := self._versions_of_twins(file):
            given = _most(self._given_by(twin, number, spec, side) for twin, number in twins)
            given -= self._given_by(file, file.version, spec, side)
        return OpenedFile(file, spec, side, cursor, ranges, given)

    def _read_again(self, file: KeptFile, side: Side) -> OpenedFile:
        opened = self.at_the_beginning(file, side)
        for _, chunks in self._kept.batches(file.id, file.version, self._before, is_tolerant=True):
            opened.read_again(chunks)
        return opened

    def _versions_of_twins(self, file: KeptFile) -> list[tuple[KeptFile, int]]:
        return [(twin, number) for twin in self._catalog.twins(file) for number in range(1, twin.version + 1)]

    def _given_by(self, file: KeptFile, version: int, spec: FormatSpec, side: Side) -> LineCounts:
        chunks = self._kept.sound_chunks(file.id, version, self._before)
        return _events_in(chunks, file.about, spec, side) if file.about.is_document else lines_in(chunks)


def cursor_of(about: About, spec: FormatSpec, side: Callable[[str], str | None]) -> FileCursor:
    """A cursor at the beginning of a file that is kept."""
    context = about.context(keep_raw=False, is_growing=True, side_file=side)
    return FileCursor(partial(spec.open, context), is_document=about.is_document)


def lines_in(chunks: Iterable[bytes]) -> LineCounts:
    """How often each line stands in these bytes; a last one without newline counts when it is a whole record."""
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


def _events_in(chunks: Iterable[bytes], about: About, spec: FormatSpec, side: Side) -> LineCounts:
    """How often each event comes from a document."""
    cursor = cursor_of(about, spec, side)
    for chunk in chunks:
        cursor.feed(chunk)
    return LineCounts(digest_of(line_of(event)) for event in cursor.settle())


def _most(counts: Iterator[LineCounts]) -> LineCounts:
    """Each line as often as where it stands most often."""
    found = LineCounts()
    for each in counts:
        found |= each
    return found


def _thawed(state: tuple[str, bytes], spec: FormatSpec, side: Side) -> Any:
    """What `OpenedFile.state` kept; None where another program did."""
    program, data = state
    try:
        return thaw(data, spec, side) if program == program_of(spec) else None
    except UnknownState:
        return None
