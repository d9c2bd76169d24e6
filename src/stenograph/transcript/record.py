"""EntryRecord: an entry as JSON holds it."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.model.ids import entry_id_text
from stenograph.transcript.entry import Role


class EntryRecord(Struct, kw_only=True, omit_defaults=True, gc=False):
    """`TranscriptEntry.as_dict` with the entry's id, for whoever writes many entries and reads none."""

    prompt_name: str
    adapter: str
    entry_type: str
    sequence_number: int
    source: str
    timestamp: str
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

    def identify(self, run_id: str) -> None:
        """Give it the id that the entry has."""
        self.entry_id = entry_id_text(self.session_id or run_id, self.source, self.sequence_number)
