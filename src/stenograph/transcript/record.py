"""EntryRecord: an entry as JSON holds it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from stenograph.transcript.entry import Role, TranscriptEntry


class EntryRecord(Struct, kw_only=True, omit_defaults=True, gc=False):
    """`TranscriptEntry.as_dict` as a struct, for code that writes many entries and reads none."""

    prompt_name: str
    adapter: str
    entry_type: str
    sequence_number: int
    source: str
    timestamp: str
    run_id: str | None = None
    session_id: str | None = None
    detail: dict[str, Any] | None = None
    raw: str | None = None
    role: Role
    content: str
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_input: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    entry_id: str | None = None


class _Open:
    """An entry that can still be filled in: assigning to a frozen dataclass takes six times as long."""

    __slots__ = TranscriptEntry.__slots__


def entry_of(record: EntryRecord, moment: datetime, entry_id: UUID) -> TranscriptEntry:
    """The entry that a record is of. `moment` is aware, and every field is set, so nothing is left to check."""
    entry: Any = _Open()
    entry.prompt_name = record.prompt_name
    entry.adapter = record.adapter
    entry.entry_type = record.entry_type
    entry.sequence_number = record.sequence_number
    entry.source = record.source
    entry.timestamp = moment
    entry.session_id = record.session_id
    entry.detail = record.detail or {}
    entry.raw = record.raw
    entry.role = record.role
    entry.content = record.content
    entry.tool_name = record.tool_name
    entry.tool_call_id = record.tool_call_id
    entry.tool_input = record.tool_input
    entry.metadata = record.metadata
    entry.timestamp_text = record.timestamp
    entry.run_id = record.run_id
    entry.entry_id = entry_id
    entry.__class__ = TranscriptEntry
    closed: TranscriptEntry = entry
    return closed
