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
    """The event's number in its journal, where it has another here and no line tells its place."""


class Event(Value, frozen=True, kw_only=True):
    """One stored fact of a run."""

    seq: int
    """1, 2, 3 … per file; 0 until someone stores it."""
    run_id: str
    parent_run_id: str | None = None
    child_run_id: str | None = None
    type: str
    """One of `EVENT_TYPES`, or whatever a newer writer wrote."""
    path: str
    """Dot-separated step path, empty outside steps."""
    iteration: int
    """Zero-based, 0 outside loops."""
    iterations: tuple[int, ...] | None = None
    """Of each step around it, the outermost first and `iteration` last; absent where all of them are the same."""
    timestamp: str
    """Ours: UTC, six digits, `Z`. From a source: the agent's own string."""
    origin: Origin | None = None
    payload: Any
    """A value of `stenograph.model.payload` by `type`; plain JSON for an unknown type; or None."""
    raw: str | None = None
    """The exact source line, on the first event of that line."""
    raw_b64: str | None = None
    """The same in base64, when the line is not UTF-8."""

    @property
    def told_at(self) -> str:
        """The timestamp; empty where the source told none and none before, so that it is only its file's time."""
        return "" if self.origin is not None and self.origin.time == "given" else self.timestamp

    @property
    def source(self) -> str:
        """Who speaks: `main` or `subagent:<id>`."""
        return (self.origin is not None and self.origin.source) or "main"
