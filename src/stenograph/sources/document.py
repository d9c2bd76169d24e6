"""Files that are one JSON document, printed over many lines: a record, or a list of records.

A list is what its records are. An object is known only to the formats that are written so: half the world's JSON files
have `messages` in them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stenograph.errors import unreadable
from stenograph.formats.base import FormatSpec
from stenograph.model import mend

LARGEST = 1 << 28


def may_be_document(head: bytes) -> bool:
    """Whether a file begins as such a document does: its first line opens an object or a list, and no more."""
    first, _, rest = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    return first.strip() in (b"{", b"[") and bool(rest)


def knows_document(spec: FormatSpec, records: list[dict[str, Any]]) -> bool:
    """Whether a format may claim a document with these records."""
    return spec.documents or len(records) > 1


def document_records(path: Path) -> list[dict[str, Any]]:
    """The records of such a file; none when it is no document after all, or larger than one is."""
    try:
        return [] if path.stat().st_size > LARGEST else records_of(path.read_bytes())
    except OSError as error:
        raise unreadable(path, error) from error


def records_of(data: bytes) -> list[dict[str, Any]]:
    """The same for the bytes of such a file."""
    try:
        document, _ = mend.parse_json(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return []
    records = document if isinstance(document, list) else [document]
    return records if all(isinstance(record, dict) for record in records) else []
