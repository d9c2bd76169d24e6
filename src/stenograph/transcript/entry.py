"""TranscriptEntry: the flat, human-first view of an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from stenograph.model import ids

Role = Literal["system", "user", "assistant", "tool"]
TranscriptRole = Role
"""`Role` under the name that the oldest design document uses."""
EntryType = Literal[
    "user_message",
    "assistant_message",
    "tool_use",
    "tool_result",
    "thinking",
    "system_event",
    "token_usage",
    "error",
    "unknown",
]

ROLES: dict[str, Role] = {
    "user_message": "user",
    "assistant_message": "assistant",
    "tool_use": "assistant",
    "tool_result": "tool",
    "thinking": "assistant",
    "system_event": "system",
    "token_usage": "system",
    "error": "system",
    "unknown": "system",
}
"""The nine canonical entry types, each with the role that usually speaks it."""


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One line of a transcript: who, what, when, and from where."""

    prompt_name: str
    """The name of the prompt or run; empty when there is none."""
    adapter: str
    """The recording adapter: `claude_agent_sdk`, `codex_app_server`, `stenograph` …"""
    entry_type: str
    """One of the nine canonical types."""
    sequence_number: int
    """1, 2, 3 … per source over the whole run; filtering never renumbers."""
    source: str
    """`main` or `subagent:<id>`."""
    timestamp: datetime
    """When it happened, by the agent's own clock; always aware, in UTC when it was given without a zone."""
    session_id: str | None = None
    detail: dict[str, Any] = field(default_factory=dict)
    """What the provider said beyond the common fields (`subtype`, `sdk_entry`, `notification`, `of`)."""
    raw: str | None = None
    """The exact source line, on the first entry of that line."""
    role: Role = None  # type: ignore[assignment]  # filled from the entry type when not given
    content: str = ""
    """The text; for a tool call its arguments as indented JSON, for a result the output."""
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_input: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    timestamp_text: str | None = field(default=None, compare=False, repr=False)
    """The timestamp as the source wrote it; what JSON and logs carry."""
    run_id: str | None = field(default=None, compare=False, repr=False)
    """The run it belongs to; for an evaluation that was not recorded, the evaluation's id."""
    entry_id: UUID = field(default=None, compare=False, repr=False)  # type: ignore[assignment]  # derived when not given
    """Identifies the entry in every reading; by default derived from run or session, source and number."""

    def __post_init__(self) -> None:
        if self.role is None:
            object.__setattr__(self, "role", ROLES.get(self.entry_type, "system"))
        if self.timestamp.tzinfo is None:  # naive and aware times cannot be compared
            object.__setattr__(self, "timestamp", self.timestamp.replace(tzinfo=UTC))
        if self.entry_id is None:
            scope = self.run_id or self.session_id or ""
            object.__setattr__(self, "entry_id", ids.entry_id(scope, self.source, f"#{self.sequence_number}"))

    @classmethod
    def message(
        cls,
        *,
        role: Role,
        content: str,
        created_at: datetime,
        tool_name: str | None = None,
        tool_call_id: str | None = None,
        tool_input: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        entry_id: UUID | None = None,
        source: str = "main",
        sequence: int = 0,
        prompt_name: str = "",
        adapter: str = "stenograph",
        session_id: str | None = None,
        run_id: str | None = None,
    ) -> TranscriptEntry:
        """An entry from the human fields alone; its type follows from who speaks and whether a tool is meant.

        It gets a new id unless one is given.
        """
        if role == "tool":
            entry_type = "tool_result"
        elif role == "assistant":
            entry_type = "tool_use" if tool_name is not None else "assistant_message"
        else:
            entry_type = "user_message"
        return cls(
            prompt_name=prompt_name,
            adapter=adapter,
            entry_type=entry_type,
            sequence_number=sequence,
            source=source,
            timestamp=created_at,
            session_id=session_id,
            role=role,
            content=content,
            tool_name=tool_name,
            tool_call_id=tool_call_id,
            tool_input=tool_input,
            metadata=metadata,
            run_id=run_id,
            entry_id=entry_id or uuid4(),
        )

    @property
    def created_at(self) -> datetime:
        """`timestamp` under its older name."""
        return self.timestamp

    @property
    def sequence(self) -> int:
        """`sequence_number` under its older name."""
        return self.sequence_number

    def as_dict(self) -> dict[str, Any]:
        """The entry as plain JSON values; what is not set is absent."""
        return fields_of(self) | {"entry_id": str(self.entry_id)}


def fields_of(entry: TranscriptEntry) -> dict[str, Any]:
    """`as_dict` with the id as it is, for encoders that know how an id is written."""
    fields: dict[str, Any] = {
        "prompt_name": entry.prompt_name,
        "adapter": entry.adapter,
        "entry_type": entry.entry_type,
        "sequence_number": entry.sequence_number,
        "source": entry.source,
        "timestamp": entry.timestamp.isoformat() if entry.timestamp_text is None else entry.timestamp_text,
    }
    if entry.run_id is not None:
        fields["run_id"] = entry.run_id
    if entry.session_id is not None:
        fields["session_id"] = entry.session_id
    if entry.detail:
        fields["detail"] = entry.detail
    if entry.raw is not None:
        fields["raw"] = entry.raw
    fields["role"] = entry.role
    fields["content"] = entry.content
    if entry.tool_name is not None:
        fields["tool_name"] = entry.tool_name
    if entry.tool_call_id is not None:
        fields["tool_call_id"] = entry.tool_call_id
    if entry.tool_input is not None:
        fields["tool_input"] = entry.tool_input
    if entry.metadata:
        fields["metadata"] = entry.metadata
    fields["entry_id"] = entry.entry_id
    return fields
