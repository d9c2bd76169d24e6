"""Which files are transcripts of Inspect Scout, and what a row says about its run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.layout import Contents, StoredSession
from stenograph.formats.scout.row import is_row, plain_row
from stenograph.formats.shared.collection import run_in
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a table with Scout's columns, and of its rows."""
    first = a_dict(records[0])
    if first.get("container") == "parquet":
        columns = a_list(first.get("columns"))
        return SURE if "transcript_id" in columns and ("messages" in columns or "events" in columns) else 0
    return SURE if is_row(first) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run is the first transcript."""
    return row_identity(a_dict(records[0])) if records else Identity()


def row_identity(row: dict[str, Any]) -> Identity:
    """A transcript by its own id."""
    return Identity(native_id=a_str(row.get("transcript_id")), model=first_str(row, "model"))


def transcripts_in(contents: Contents) -> list[StoredSession]:
    """Every transcript of a file."""
    value = contents.read(contents.names[0])
    rows = [plain_row(each) for each in dicts(value if isinstance(value, list) else [value])]
    return [run_in(row_identity(row), row) for row in rows]
