"""Cases of a format: real files, or bytes, and how a parser reads them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from stenograph.formats.base import Context, Format, FormatSpec
from stenograph.formats.registry import HEAD_BYTES, head_records
from stenograph.model.event import Event
from stenograph.sources.database import head_of_database, is_database
from stenograph.sources.document import may_be_document, may_be_list, records_of
from stenograph.sources.files import open_file
from stenograph.sources.layout import SessionFiles

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


class Case(Struct, frozen=True, kw_only=True):
    """One transcript to check a format with."""

    name: str
    """Its name in the message of a broken law."""
    path: str
    data: bytes
    """Its lines: of a database the rows of its first session, of a document its records."""
    head: Sequence[Any]
    """The first records, as detection sees them."""
    is_document: bool = False

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of a document."""
        return records_of(self.data)


def case_of(spec: FormatSpec, source: Path | str | bytes, number: int) -> Case:
    """A path or the bytes of a transcript as a case."""
    if isinstance(source, bytes):
        return _of_bytes(f"case {number}", "", source)
    path = Path(source)
    if is_database(path, open_file):
        return _of_database(spec, path)
    return _of_bytes(str(path), str(path), path.read_bytes())


def _of_bytes(name: str, path: str, data: bytes) -> Case:
    beginning = data[: max(HEAD_BYTES, data.find(b"\n") + 1)]
    head = head_records(beginning)
    is_document = may_be_document(beginning) or may_be_list(data)
    records = records_of(data) if is_document else []
    return Case(name=name, path=path, data=data, head=records or head, is_document=bool(records))


def _of_database(spec: FormatSpec, path: Path) -> Case:
    stored = SessionFiles(spec).stored(path)
    if stored is None:
        raise AssertionError(f"{spec.name}: {path} is a database, and the format's layout has none")
    with stored as sessions:
        data = b"".join(sessions[0].lines()) if sessions else b""
    return Case(name=str(path), path=str(path), data=data, head=head_of_database(path))


def opened(spec: FormatSpec, *, side_file: Any = None) -> Format:
    """A new parser, as for a separate file."""
    return spec.open(Context(run_id=RUN_ID, side_file=side_file))


def parsed(spec: FormatSpec, data: bytes, cuts: Iterable[int] = ()) -> tuple[list[Event], Format]:
    """The events of some bytes, fed in pieces, and the parser."""
    parser = opened(spec)
    events: list[Event] = []
    start = 0
    for end in (*sorted(cuts), len(data)):
        events += parser.feed(data[start:end])
        start = end
    return events + parser.finish(), parser


def rebuilt(events: Iterable[Event], parser: Format) -> bytes:
    """The source file, rebuilt from its events and the report alone."""
    lines: dict[int, bytes] = {number: text.encode() for number, text in parser.report.blank_lines.items()}
    for event in events:
        raw = raw_of(event)
        if raw is not None and event.origin is not None and event.origin.line is not None:
            lines[event.origin.line] = raw
    text = b"\n".join(lines.get(number, b"") for number in range(1, parser.report.lines + 1))
    return text + (b"\n" if parser.report.final_newline and parser.report.lines else b"")


def raw_of(event: Event) -> bytes | None:
    """The source line that an event carries."""
    if event.raw_b64 is not None:
        return base64.b64decode(event.raw_b64)
    return None if event.raw is None else event.raw.encode()
