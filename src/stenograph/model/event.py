"""The event: one stored fact of a run, one line of its journal."""

from __future__ import annotations

from typing import Any, Literal

from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)
from stenograph.model.value import Value

PAYLOAD_TYPES: dict[str, type[Value]] = {
    "run.started": LifecyclePayload,
    "run.completed": LifecyclePayload,
    "step.started": LifecyclePayload,
    "step.completed": LifecyclePayload,
    "step.call_workflow.started": LifecyclePayload,
    "step.call_workflow.completed": LifecyclePayload,
    "message.user": MessagePayload,
    "message.assistant": MessagePayload,
    "tool.call": ToolPayload,
    "tool.result": ToolPayload,
    "system.event": SystemPayload,
    "token.usage": UsagePayload,
    "error": ErrorPayload,
    "unknown": UnknownPayload,
}
"""The closed vocabulary of event types, each with the payload it carries."""

EVENT_TYPES = tuple(PAYLOAD_TYPES)


class Origin(Value, frozen=True, kw_only=True):
    """Where an event comes from."""

    adapter: str | None = None
    source: str | None = None
    """Who speaks inside the run: absent for `main`, else `subagent:<id>`."""
    session_id: str | None = None
    prompt_name: str | None = None
    file: str | None = None
    """Relative to the run's main file; absent for the main file itself."""
    line: int | None = None
    """The physical line, from 1."""
    parent_source: str | None = None
    parent_call_id: str | None = None
    """With `parent_source`: the call that spawned this source."""
    time: Literal["inherited", "given"] | None = None
    """Set when the source had no timestamp of its own."""
    seq: int | None = None
    """The event's number in its journal, where it has another number here and no line to give its place."""


class Event(Value, frozen=True, kw_only=True):
    """One stored fact of a run."""

    seq: int
    """1, 2, 3 … per file; 0 until it is stored."""
    run_id: str
    parent_run_id: str | None = None
    child_run_id: str | None = None
    type: str
    """One of `EVENT_TYPES`, or a type of a newer version."""
    path: str
    """Dot-separated step path, empty outside steps."""
    iteration: int
    """Zero-based, 0 outside loops."""
    iterations: tuple[int, ...] | None = None
    """The iteration of each step around it, outermost first and `iteration` last; absent where all are the same."""
    timestamp: str
    """Ours: UTC, six digits, `Z`. From a source: the agent's own string."""
    origin: Origin | None = None
    payload: Any
    """A value of `stenograph.model.payload` by `type`; plain JSON for an unknown type; or None."""
    raw: str | None = None
    """The exact source line, on the first event of that line."""
    raw_b64: str | None = None
    """The exact source line in base64, when it is not UTF-8."""

    @property
    def told_at(self) -> str:
        """The timestamp; empty where the source gives no time and the event only has the time of its file."""
        return "" if self.origin is not None and self.origin.time == "given" else self.timestamp

    @property
    def source(self) -> str:
        """Who speaks: `main` or `subagent:<id>`."""
        return (self.origin is not None and self.origin.source) or "main"
