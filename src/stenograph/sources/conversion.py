"""Converting agents' files to canonical events: one file, a session with its subagents, a folder, or a stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from stenograph.errors import SourceError, unknown_format, unreadable
from stenograph.fold.losses import LossReport
from stenograph.formats.base import Format, FormatSpec, Report
from stenograph.formats.layout import StoredSession
from stenograph.model.event import Event
from stenograph.sources.cursor import FileCursor, opened_by
from stenograph.sources.detection import Detection, detect_file, detect_head, read_head
from stenograph.sources.layout import Member
from stenograph.sources.layouts import layout_of, main_of, sidecar_suffixes, transcript_suffixes
from stenograph.sources.merge import merged
from stenograph.sources.session import STREAM, context_of, stored_file
from stenograph.sources.stored import address_of, chosen

CHUNK = 1 << 18
_LINES_AT_ONCE = 100


class FileReport(Struct, kw_only=True):
    """The outcome of reading one file."""

    path: str
    format: str | None
    """None when no format recognizes the file; then it was not read."""
    problem: str | None = None
    """Why the file was not read, if so."""
    run_id: str | None = None
    source: str | None = None
    report: Report
    losses: dict[str, Any] | None = None
    """What of an exchange file became events, and what did not, as in the loss report of an export."""


class Conversion:
    """The canonical events of an input: iterate it once. `files` is filled meanwhile."""

    def __init__(self, events: Iterator[Event], files: list[FileReport]) -> None:
        self.files = files
        self._events = events
        self._numbers: dict[str, int] = {}

    def __iter__(self) -> Iterator[Event]:
        numbers = self._numbers
        for event in self._events:
            if event.seq == 0:  # an event of a journal keeps its number
                number = numbers[event.run_id] = numbers.get(event.run_id, 0) + 1
                force_setattr(event, "seq", number)
            yield event


def convert(path: Path, spec: FormatSpec | None = None, *, keep_raw: bool = True) -> Conversion:
    """The events of a file (with the files that belong to it) or of everything in a folder.

    `FILE#SESSION` is one session of a file that holds many.
    Raises `SourceError` for a file that cannot be read, and for a single file that no format recognizes.
    """
    path, wanted = address_of(path)
    reading = _Reading(spec, keep_raw, wanted)
    if path.is_dir():
        return Conversion(reading.folder(path), reading.files)
    found = reading.detect(path)
    if found.spec is None:
        raise unknown_format(str(path))
    return Conversion(reading.session(found, reading.members(found)), reading.files)


def sessions_in(folder: Path) -> list[Detection]:
    """The main file of every session below a folder, as far as a format recognizes it."""
    return [found for found, _ in _Reading(None, keep_raw=True).sessions(folder)]


def convert_stream(
    stream: BinaryIO,
    spec: FormatSpec | None = None,
    *,
    keep_raw: bool = True,
    name: str = STREAM,
    at: datetime | None = None,
) -> Conversion:
    """The events of a stream. No side file is opened; the report names the missing ones."""
    head = read_head(stream)
    found = detect_head(head, name, at or datetime.now(UTC), spec)
    reading = _Reading(spec, keep_raw)
    if found.spec is not None:
        return Conversion(reading.opened(found, _chunks(head, stream)), reading.files)
    if head.strip():
        raise unknown_format(name)
    return Conversion(iter(()), reading.files)


class _Reading:
    """One conversion: how to read, and the outcome of each file so far."""

    def __init__(self, spec: FormatSpec | None, keep_raw: bool, wanted: str | None = None) -> None:
        self.files: list[FileReport] = []
        self._wanted = wanted
        self._spec = spec
        self._keep_raw = keep_raw
        self._found: dict[Path, Detection] = {}

    def detect(self, path: Path) -> Detection:
        """What a file is; its beginning is read once, however many sessions need it."""
        found = self._found.get(path)
        if found is None:
            found = self._found[path] = detect_file(path, self._spec)
        return found

    def folder(self, folder: Path) -> Iterator[Event]:
        """Every session in a folder, one after the other; subagent files go with their session."""
        for found, members in self.sessions(folder):
            yield from self.session(found, members)

    def sessions(self, folder: Path) -> list[tuple[Detection, list[Member]]]:
        """The main file of every session in a folder, with the files that belong to it."""
        found = []
        for path in _transcripts(folder):
            try:
                found.append(self.detect(path))
            except SourceError as error:
                self._unread(path, None, str(error))
        found = _with_places(found, folder)
        members = {each.path: self.members(each) for each in found}
        taken = {str(member.path) for each in members.values() for member in each}
        for each in found:
            if each.spec is None:
                self._unread(each.path, None, "no format recognizes it, skipped")
        return [(each, members[each.path]) for each in found if each.spec is not None and each.path not in taken]

    def members(self, found: Detection) -> list[Member]:
        """The files that belong to a session."""
        return [] if found.spec is None else layout_of(found.spec.name).members(found, self.detect)

    def session(self, found: Detection, members: list[Member]) -> Iterator[Event]:
        """A file with the files that belong to it."""
        assert found.spec is not None
        main = Path(found.path)
        stored = layout_of(found.spec.name).stored(main)
        if stored is not None:
            return self._runs(found, stored)
        series = [self.opened(found, _read(found.path))]
        for member in members:
            try:
                detected = self.detect(member.path)
                if detected.spec is not found.spec:  # its path decides, whatever its beginning says
                    detected = detect_file(member.path, found.spec)
            except SourceError as error:  # agents delete files at any time; the session is worth reading without it
                self._unread(member.path, found.spec.name, str(error))
                continue
            series.append(self.opened(detected, _read(detected.path), main, member))
        return series[0] if len(series) == 1 else merged(series)

    def _runs(self, found: Detection, stored: AbstractContextManager[list[StoredSession]]) -> Iterator[Event]:
        """The runs of a file that holds many, one after the other; the sessions of one as its files would be."""
        assert found.spec is not None
        with stored as sessions:
            if not sessions:
                self.files.append(FileReport(path=found.path, format=found.spec.name, report=Report()))
            for _, group in groupby(chosen(sessions, self._wanted, found), key=lambda each: each.identity.native_id):
                series = []
                for each in group:
                    inside, parent = stored_file(found, each)
                    series.append(self.opened(inside, _joined(each.lines()), member=parent))
                yield from series[0] if len(series) == 1 else merged(series)

    def opened(
        self, found: Detection, chunks: Iterable[bytes], main: Path | None = None, member: Member | None = None
    ) -> Iterator[Event]:
        """The events of one file or stream; with `main` and `member`, one of a subagent of that session."""
        assert found.spec is not None
        parser = opened_by(found.spec, context_of(found, main, member, keep_raw=self._keep_raw), found.path)
        cursor = FileCursor(lambda: parser, is_document=found.is_document)
        cursor.path = found.path
        file = FileReport(
            path=found.path,
            format=found.spec.name,
            run_id=found.run_id,
            source=found.identity.source,
            report=parser.report,
        )
        self.files.append(file)
        return _with_losses(_events(cursor, chunks), parser, file)

    def _unread(self, path: Path | str, format_name: str | None, problem: str) -> None:
        self.files.append(FileReport(path=str(path), format=format_name, problem=problem, report=Report()))


def _chunks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield head
    while chunk := stream.read(CHUNK):
        yield chunk


def _with_places(found: list[Detection], folder: Path) -> list[Detection]:
    """The files; of those that name no run and have the same beginning, all but the first with their place."""
    met: set[tuple[str, str]] = set()
    apart: list[Detection] = []
    for each in found:
        key = ("" if each.spec is None else each.spec.name, each.beginning)
        is_like_another = each.is_nameless and key in met
        apart.append(replace(each, place=os.path.relpath(each.path, folder)) if is_like_another else each)
        met |= {key} if each.is_nameless else set()
    return apart


def _transcripts(folder: Path) -> list[Path]:
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(place) / name for name in sorted(names) if name.endswith(transcript_suffixes())]
    mains = (path for path in found if path.is_file() and not path.name.endswith(sidecar_suffixes()))
    return [path for path in mains if main_of(path) is None]


def _read(path: str) -> Iterator[bytes]:
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except OSError as error:
        raise unreadable(path, error) from error


def _joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines joined to larger pieces, which a parser reads faster."""
    left = iter(lines)
    while some := b"".join(islice(left, _LINES_AT_ONCE)):
        yield some


def _with_losses(events: Iterator[Event], parser: Format, file: FileReport) -> Iterator[Event]:
    """The events; at their end, the losses of a format that counts them are put into the report."""
    yield from events
    losses: LossReport | None = getattr(parser, "losses", None)
    file.losses = None if losses is None else losses.to_dict()


def _events(cursor: FileCursor, chunks: Iterable[bytes]) -> Iterator[Event]:
    for chunk in chunks:
        yield from cursor.feed(chunk)
    yield from cursor.finish()
