"""The line of an agent's own file, or of a journal, that an archived event was read from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from stenograph.archive.store.kept_file import KeptBytes
from stenograph.errors import InvalidEvent, SourceError
from stenograph.model.codec import decode
from stenograph.model.payload import MessagePayload, ToolPayload

if TYPE_CHECKING:
    from stenograph.archive.reader import IndexReader
    from stenograph.model.event import Event

_FILES = "SELECT id, version, path, format, main IS NULL FROM files WHERE run_id = ? ORDER BY id"
_JOURNAL = "exchange"


class SourceLine(Struct, frozen=True, kw_only=True):
    """A line as it was kept."""

    path: str
    """The path of the file when it was last seen."""
    number: int
    """From 1."""
    data: bytes


def source_line(reader: IndexReader, event: Event) -> SourceLine | None:
    """The line that an event was read from; None where it is not kept any more, or where no file has it."""
    origin = event.origin
    kept = KeptBytes(reader.index, reader.home.kept)
    rows = reader.index.execute(_FILES, (event.run_id,)).fetchall()
    found: list[SourceLine] = []
    for file, version, path in _candidates(event, rows):
        try:
            chunks = kept.chunks(file, version)
            if origin is not None and origin.line is not None:
                line = _line(chunks, origin.line)
                number = origin.line
            else:
                number, line = _journal_line(chunks, event)
        except SourceError:  # a damaged pack; `steno verify` says so
            continue
        if line is not None:
            found.append(SourceLine(path=path, number=number, data=line))
    sign = _sign(event)
    return next((each for each in found if sign and sign in each.data), found[0] if found else None)


def _candidates(event: Event, rows: list[tuple[int, int, str, str, int]]) -> Iterator[tuple[int, int, str]]:
    """The files that may have the event: those of its format and of its place beside the main file."""
    origin = event.origin
    written = _JOURNAL if origin is None or origin.line is None else origin.adapter
    mains = [row for row in rows if row[4] and row[3] in (written, _JOURNAL)]
    if origin is None or origin.file is None:
        yield from ((file, version, path) for file, version, path, form, _ in mains if form == written)
        return
    places = {os.path.normpath(os.path.join(os.path.dirname(row[2]), origin.file)) for row in mains}  # noqa: PTH118, PTH120  # no file is touched: these are names
    yield from ((row[0], row[1], row[2]) for row in rows if row[2] in places)


def _line(chunks: Iterator[bytes], number: int) -> bytes | None:
    """A line by its number. Chunks before it are counted, not split."""
    before, rest = 0, b""
    for chunk in chunks:
        ends = chunk.count(b"\n")
        if before + ends < number - 1:
            before += ends
            rest = chunk[chunk.rfind(b"\n") + 1 :] if ends else rest + chunk
            continue
        lines = (rest + chunk).split(b"\n")
        wanted = number - 1 - before
        if wanted < len(lines) - 1:
            return lines[wanted]
        before += len(lines) - 1
        rest = lines[-1]
    return rest if rest and before == number - 1 else None


def _journal_line(chunks: Iterator[bytes], event: Event) -> tuple[int, bytes | None]:
    """The line of a journal that holds the event of the same number and type."""
    seq = event.seq if event.origin is None or event.origin.seq is None else event.origin.seq
    for number, line in enumerate(b"".join(chunks).split(b"\n"), 1):
        if b'"seq":%d,' % seq not in line:
            continue
        try:
            written = decode(line)
        except (InvalidEvent, SourceError):
            continue
        if written.seq == seq and written.type == event.type:
            return number, line
    return 0, None


def _sign(event: Event) -> bytes:
    """A text that is in the event's line, and seldom in other lines."""
    payload = event.payload
    if isinstance(payload, ToolPayload) and payload.call_id:
        return payload.call_id.encode()
    if isinstance(payload, MessagePayload) and payload.message_id:
        return payload.message_id.encode()
    return b""
