"""Files that are one JSON document over any number of lines: a record, or a list of records.

A list is detected by its records. An object is claimed only by formats that are written as documents: many other JSON
files have `messages` in them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.base import FormatSpec
from stenograph.model import mend
from stenograph.model.codec import REFUSALS

LARGEST = 1 << 28


def may_be_document(head: bytes) -> bool:
    """Whether a file begins like such a document: with an object or a list that does not end in its first line."""
    first, _, rest = _lines(head)
    return first[:1] in _OPENING and bool(rest) and not _is_json(first)


def may_be_list(head: bytes) -> bool:
    """Whether a file is a list in one line."""
    first, _, rest = _lines(head)
    return first[:1] == b"[" and not rest.strip() and _is_json(first)


_OPENING = (b"{", b"[")


def _lines(head: bytes) -> tuple[bytes, bytes, bytes]:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")


def _is_json(text: bytes) -> bool:
    try:
        _check(text)
    except REFUSALS:
        try:
            mend.parse_json(text)
        except (ValueError, RecursionError):
            return False
    return True


_check = msgspec.json.Decoder(msgspec.Raw).decode


def knows_document(spec: FormatSpec, records: list[dict[str, Any]]) -> bool:
    """Whether a format may claim a document with these records."""
    return spec.documents or spec.kind == "document" or len(records) > 1


def records_of(data: bytes) -> list[dict[str, Any]]:
    """The records in the bytes of such a file; none when it is not a document."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        document = msgspec.json.decode(data)
    except REFUSALS:  # odd JSON, or none
        try:
            document, _ = mend.parse_json(data)
        except (ValueError, RecursionError):
            return []
    records = document if isinstance(document, list) else [document]
    return records if all(isinstance(record, dict) for record in records) else []
