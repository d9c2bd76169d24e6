"""Finding the format and the run of a file by its beginning."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from stenograph.errors import InvalidFormat, MissingExtra, unreadable
from stenograph.formats.base import FormatSpec, Identity
from stenograph.formats.registry import HEAD_BYTES, detect_records, formats, head_records, identity_of
from stenograph.sources import parquet
from stenograph.sources.container import ZIP, head_of_zip
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
    """None when no format recognizes it."""
    identity: Identity
    at: str
    """The file's time of change."""
    is_document: bool = False
    """Whether the file is one JSON document over many lines."""
    beginning: str = ""
    """A digest of its first record, of a document its first message; empty where its run is named otherwise."""
    place: str = ""
    """Distinguishes a file that names no run from others with the same beginning; empty for the first of them."""

    @property
    def is_nameless(self) -> bool:
        """Whether nothing in the file or its path names its run, so that only its beginning does."""
        return not self.identity.native_id and bool(self.beginning)

    @property
    def run_id(self) -> str:
        """The run that the file belongs to."""
        assert self.spec is not None
        beginning = f"{self.beginning}\n{self.place}" if self.place else self.beginning
        return self.identity.run_id(self.spec.name, beginning or Path(self.path).name)


def format_named(name: str) -> FormatSpec:
    """The format of that name, or that of the agent of that name. Raises `InvalidFormat` with the known names."""
    spec = formats().get(name)
    if spec is None:
        placed = (each for each in formats().values() if each.is_placed and each.agent.id == name)
        spec = max(placed, key=lambda each: each.priority, default=None)
    if spec is None:
        raise InvalidFormat(name, tuple(formats()))
    return spec


def detect_file(path: Path, spec: FormatSpec | None = None) -> Detection:
    """The format and the run of a file; with `spec`, in that format."""
    return look_at(path, spec, open_file)[0]


def look_at(path: Path, spec: FormatSpec | None, open: Open) -> tuple[Detection, Head]:
    """The format and the run of a file, and its beginning; no byte is read twice."""
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
    if head.startswith(parquet.MAGIC):
        return _detected(parquet.head_of_table(path), str(path), moment, spec), (head, records)
    if head.startswith(ZIP):
        return _detected(head_of_zip(path, open), str(path), moment, spec), (head, records)
    if not records and (binary := _binary_records(path, head, open)):
        return _detected(binary, str(path), moment, spec), (head, records)
    found = _detected(records, str(path), moment, spec)
    if not document or (is_list and found.spec is not None):
        return found, (head, records)
    found = _detected(document, str(path), moment, spec)
    if spec is None and found.spec is not None and not knows_document(found.spec, document):
        found = replace(found, spec=None, identity=Identity())
    beginning = _digest(_first_message(document[0])) if document and not found.identity.native_id else ""
    return replace(found, is_document=True, beginning=beginning), (head, records)


def _binary_records(path: Path, head: bytes, open: Open) -> list[Any]:
    """The records of a file that is not text, by the format that recognizes it; none where no format does."""
    for spec in formats().values():
        binary = spec.binary
        if binary is None or not binary.may_be(head):
            continue
        with open(path) as file:
            data = file.read(LARGEST)
        try:
            return binary.records(data)
        except MissingExtra:
            if path.suffix in binary.suffixes:
                raise
    return []


def _moment(seconds: float) -> datetime:
    """A file's time; 1970 in place of one that `datetime` cannot hold."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


def read_head(stream: BinaryIO) -> bytes:
    """Enough of the beginning to detect the format: a few lines, or the whole of a long first line."""
    read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)  # a pipe gives what it has
    head = read(HEAD_BYTES)
    if head.startswith((MAGIC, ZIP, parquet.MAGIC)):
        return head
    pieces, size = [head], len(head)
    while b"\n" not in pieces[-1] and size < LONGEST_FIRST_LINE and (more := read(HEAD_BYTES * 16)):
        pieces.append(more)
        size += len(more)
    return b"".join(pieces)


def detect_head(head: bytes, path: str, at: datetime, spec: FormatSpec | None = None) -> Detection:
    """The format and the run of an input with this beginning."""
    return _detected(head_records(head), path, at, spec)


def _detected(records: list[Any], path: str, at: datetime, spec: FormatSpec | None) -> Detection:
    spec = spec or detect_records(records, path)
    identity = Identity() if spec is None else identity_of(spec, records, path)
    beginning = _digest(records[0]) if records and not identity.native_id else ""
    return Detection(
        path=path, spec=spec, identity=identity, at=at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), beginning=beginning
    )


def _first_message(document: dict[str, Any]) -> Any:
    """The first message in a document, which stays when the document grows; the document where it has none."""
    lists = (value for value in document.values() if isinstance(value, list) and value and isinstance(value[0], dict))
    return next((each[0] for each in lists), document)


def _digest(record: Any) -> str:
    """A digest of a record that does not depend on how it is written."""
    try:
        text = json.dumps(record, sort_keys=True)
    except RecursionError:
        text = repr(type(record))
    return blake2b(text.encode(), digest_size=16).hexdigest()
