"""Looking at the beginning of a file: which format, which run."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from stenograph.errors import InvalidFormat, unreadable
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.registry import HEAD_BYTES, detect_records, formats, head_records
from stenograph.sources.database import MAGIC, head_of_database
from stenograph.sources.document import LARGEST, knows_document, may_be_document, may_be_list, records_of
from stenograph.sources.files import Open, open_file

LONGEST_FIRST_LINE = 1 << 26
Head = tuple[bytes, list[Any]]
"""The first bytes of a file, and the records in them."""


class Detection(Struct, frozen=True, kw_only=True):
    """What a file is."""

    path: str
    spec: FormatSpec | None
    """None when no format knows it."""
    identity: Identity
    at: str
    """The file's time of change."""
    is_document: bool = False
    """Whether the file is one JSON document over many lines."""

    @property
    def run_id(self) -> str:
        """The run that the file belongs to."""
        assert self.spec is not None
        return self.identity.run_id(self.spec.name, Path(self.path).name)


def format_named(name: str) -> FormatSpec:
    """The format of that name; an unknown one is refused with the names there are."""
    spec = formats().get(name)
    if spec is None:
        raise InvalidFormat(name, tuple(formats()))
    return spec


def detect_file(path: Path, spec: FormatSpec | None = None) -> Detection:
    """The format and the run of a file; with `spec` the format is taken as given."""
    return look_at(path, spec, open_file)[0]


def look_at(path: Path, spec: FormatSpec | None, open: Open) -> tuple[Detection, Head]:
    """The same, and the beginning of the file; nothing is read twice."""
    document: list[Any] = []
    try:
        with open(path) as file:
            head = read_head(file)
            status = os.fstat(file.fileno())
            is_document, is_list = may_be_document(head), may_be_list(head)
            if (is_document or is_list) and status.st_size <= LARGEST:
                document = records_of(head + file.read())
    except OSError as error:
        raise unreadable(path, error) from error
    moment = _moment(status.st_mtime)
    records = head_records(head)
    if head.startswith(MAGIC):
        return _detected(head_of_database(path), str(path), moment, spec), (head, records)
    found = _detected(records, str(path), moment, spec)
    if not document or (is_list and found.spec is not None):
        return found, (head, records)
    found = _detected(document, str(path), moment, spec)
    if spec is None and found.spec is not None and not knows_document(found.spec, document):
        found = replace(found, spec=None, identity=Identity())
    return replace(found, is_document=True), (head, records)


def _moment(seconds: float) -> datetime:
    """A file's time; the earliest there is in place of one that no calendar has."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def read_head(stream: BinaryIO) -> bytes:
    """Enough of the beginning to tell the format: a few lines, or the whole of a first line that is long."""
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)  # a pipe gives what it has
    head = read(HEAD_BYTES)
    if head.startswith(MAGIC):
        return head
    while b"\n" not in head and len(head) < LONGEST_FIRST_LINE and (more := read(HEAD_BYTES * 16)):
        head += more
    return head


def detect_head(head: bytes, path: str, at: datetime, spec: FormatSpec | None = None) -> Detection:
    """The same for the beginning of anything."""
    return _detected(head_records(head), path, at, spec)


def _detected(records: list[Any], path: str, at: datetime, spec: FormatSpec | None) -> Detection:
    spec = spec or detect_records(records, path)
    identity = Identity() if spec is None else spec.identify(records, path)
    return Detection(path=path, spec=spec, identity=identity, at=at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
