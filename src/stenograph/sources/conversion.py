"""Agents' files as canonical events: one file, a session with its subagents, a folder, or a stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import force_setattr

from stenograph.errors import SourceError
from stenograph.formats.base import Context, Format, FormatSpec, Report
from stenograph.model.event import Event
from stenograph.sources import claude
from stenograph.sources.detection import Detection, detect_file, detect_head, read_head
from stenograph.sources.merge import merged

CHUNK = 1 << 18


class FileReport(Struct, kw_only=True):
    """What became of one file."""

    path: str
    format: str | None
    """None when no format knows the file; then it was not read."""
    problem: str | None = None
    """Why the file was not read, when it was not."""
    run_id: str | None = None
    source: str | None = None
    report: Report


class Conversion:
    """The canonical events of a source: iterate it once. `files` fills as it goes."""

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

    Raises `SourceError` for what cannot be read, and for a single file that no format knows.
    """
    files: list[FileReport] = []
    if path.is_dir():
        return Conversion(_folder(path, spec, keep_raw, files), files)
    found = detect_file(path, spec)
    if found.spec is None:
        raise SourceError(
            f"{path} is written in no format we know; steno formats lists them, --from forces one", str(path)
        )
    return Conversion(_session(found, keep_raw, files), files)


def convert_stream(
    stream: BinaryIO,
    spec: FormatSpec | None = None,
    *,
    keep_raw: bool = True,
    name: str = "-",
    at: datetime | None = None,
) -> Conversion:
    """The events of a stream. No side file is opened; the report names those that were wanted."""
    head = read_head(stream)
    found = detect_head(head, name, at or datetime.now(UTC), spec)
    if found.spec is None and head.strip():
        raise SourceError(f"{name} is written in no format we know; steno formats lists them, --from forces one", name)
    files: list[FileReport] = []
    if found.spec is None:
        return Conversion(iter(()), files)
    parser, report = _opened(found, keep_raw)
    files.append(report)
    return Conversion(_parsed(parser, _chunks(head, stream)), files)


def _chunks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    yield head
    while chunk := stream.read(CHUNK):
        yield chunk


def _folder(folder: Path, spec: FormatSpec | None, keep_raw: bool, files: list[FileReport]) -> Iterator[Event]:
    """Every session in a folder, one after the other; subagent files go with their session."""
    found = []
    for path in _transcripts(folder):
        try:
            found.append(detect_file(path, spec))
        except SourceError as error:
            files.append(FileReport(path=str(path), format=None, problem=str(error), report=Report()))
    taken: set[str] = set()
    for each in found:
        if claude.is_main_file(each):
            taken |= {str(path) for path in claude.subagent_files(Path(each.path), each.identity.native_id)}
    for each in found:
        if each.spec is None:
            files.append(
                FileReport(path=each.path, format=None, problem="no format knows it, skipped", report=Report())
            )
        elif each.path not in taken:
            yield from _session(each, keep_raw, files)


def _transcripts(folder: Path) -> list[Path]:
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(place) / name for name in sorted(names) if name.endswith((".jsonl", ".ndjson", ".json"))]
    return [path for path in found if path.is_file() and not path.name.endswith(".meta.json")]


def _session(found: Detection, keep_raw: bool, files: list[FileReport]) -> Iterator[Event]:
    """A file with the files that belong to it."""
    series = [_file(found, keep_raw, files)]
    if claude.is_main_file(found):
        main = Path(found.path)
        for path in claude.subagent_files(main, found.identity.native_id):
            try:
                agent = detect_file(path, found.spec)
            except SourceError as error:  # an agent cleans up as it likes; the session is worth reading without it
                files.append(FileReport(path=str(path), format=claude.FORMAT, problem=str(error), report=Report()))
                continue
            series.append(_file(agent, keep_raw, files, main=main))
    return series[0] if len(series) == 1 else merged(series)


def _file(found: Detection, keep_raw: bool, files: list[FileReport], main: Path | None = None) -> Iterator[Event]:
    parser, report = _opened(found, keep_raw, main)
    files.append(report)
    return _parsed(parser, _read(found.path))


def _opened(found: Detection, keep_raw: bool, main: Path | None = None) -> tuple[Format, FileReport]:
    assert found.spec is not None
    path = Path(found.path)
    identity = found.identity
    is_claude = found.spec.name == claude.FORMAT and found.path != "-"
    parent_source, parent_call_id = claude.parent_of(path, main) if is_claude else (None, None)
    run_id = found.run_id
    parent = identity.parent_native_id
    context = Context(
        run_id=run_id,
        parent_run_id=None if parent is None else _run_id(found.spec, parent),
        source=identity.source,
        file=None if main is None else os.path.relpath(path, main.parent),
        session_id=identity.session_id,
        parent_source=parent_source,
        parent_call_id=parent_call_id,
        at=found.at,
        keep_raw=keep_raw,
        side_file=claude.side_file_reader(main or path, identity.native_id) if is_claude else None,
    )
    parser = found.spec.open(context)
    report = FileReport(
        path=found.path, format=found.spec.name, run_id=run_id, source=identity.source, report=parser.report
    )
    return parser, report


def _run_id(spec: FormatSpec, native_id: str) -> str:
    from stenograph.formats.base import run_id_of

    return run_id_of(spec.name, native_id)


def _read(path: str) -> Iterator[bytes]:
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}; check the path and its permissions", path) from error


def _parsed(parser: Format, chunks: Iterable[bytes]) -> Iterator[Event]:
    for chunk in chunks:
        yield from parser.feed(chunk)
    yield from parser.finish()
