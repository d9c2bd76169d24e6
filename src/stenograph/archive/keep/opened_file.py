"""A kept file that takes part in a batch, with its parser where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from stenograph.archive.keep.file_reading import FileReading, Lines, events_in, lines_in, most
from stenograph.archive.keep.frozen_parser import UnknownState, program_of, thaw
from stenograph.archive.store.catalog import Catalog
from stenograph.archive.store.kept_file import KeptBytes, KeptFile
from stenograph.formats.base import FormatSpec
from stenograph.model.event import Event
from stenograph.sources.detection import format_named
from stenograph.sources.layout import SideFile as LiveSide


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
        return None if data is None else data.decode("utf-8", "replace")


class OpenedFile:
    """One file, its format, and how far it was read."""

    def __init__(self, file: KeptFile, spec: FormatSpec, side: Side, reading: FileReading) -> None:
        self.file = file
        self.spec = spec
        self.side = side
        self.reading = reading

    def feed(self, data: bytes) -> list[Event]:
        """The new events in the next bytes of the file."""
        self.file.kept += len(data)
        return self.reading.feed(data)


class Opening:
    """Opens files for one batch, so that what earlier batches kept is read as it was."""

    def __init__(self, catalog: Catalog, kept: KeptBytes, before: int) -> None:
        self._catalog = catalog
        self._kept = kept
        self._before = before

    def at_the_beginning(self, file: KeptFile, side: Side) -> OpenedFile:
        """At the beginning of a (new) version."""
        spec = format_named(file.about.format)
        versions = [*self._versions_of_twins(file), *((file, number) for number in range(1, file.version))]
        known = most(self._lines_of(each, number, spec, side) for each, number in versions)
        return OpenedFile(file, spec, side, FileReading(file.about, spec, side, known))

    def where_it_stopped(self, file: KeptFile, side: Side, state: tuple[str, bytes] | None) -> OpenedFile:
        """With the parser of that state; without one, or with one of another program, by reading again what is kept."""
        spec = format_named(file.about.format)
        reading = None if file.about.is_document or state is None else _thawed(state, spec, side)
        if reading is None:
            opened = self.at_the_beginning(file, side)
            self._read_again(opened)
            return opened
        if twins := self._versions_of_twins(file):
            known = most(self._lines_of(twin, number, spec, side) for twin, number in twins)
            reading.know(known - self._lines_of(file, file.version, spec, side))
        return OpenedFile(file, spec, side, reading)

    def _versions_of_twins(self, file: KeptFile) -> list[tuple[KeptFile, int]]:
        return [(twin, number) for twin in self._catalog.twins(file) for number in range(1, twin.version + 1)]

    def _lines_of(self, file: KeptFile, version: int, spec: FormatSpec, side: Side) -> Lines:
        chunks = self._kept.sound_chunks(file.id, version, self._before)
        return events_in(chunks, file.about, spec, side) if file.about.is_document else lines_in(chunks)

    def _read_again(self, opened: OpenedFile) -> None:
        file, reading = opened.file, opened.reading
        for _, chunks in self._kept.batches(file.id, file.version, self._before, is_tolerant=True):
            for chunk in chunks:
                reading.feed(chunk)
            reading.settle()


def _thawed(state: tuple[str, bytes], spec: FormatSpec, side: Side) -> FileReading | None:
    program, data = state
    try:
        reading = thaw(data, spec, side) if program == program_of(spec) else None
    except UnknownState:
        return None
    return reading if isinstance(reading, FileReading) else None
