"""What adapters dispatch to a session beside the entries: a prompt was rendered, a tool was called, an answer came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRendered:
    """A prompt is complete and about to be sent."""

    prompt_name: str
    adapter: str
    created_at: datetime
    session_id: UUID | None = None
    """The session that the prompt is evaluated for."""
    system: str | None = None
    """The system prompt, when there is one."""
    user: str = ""
    """The text of the user's message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInvoked:
    """A tool call has ended, with or without an error."""

    prompt_name: str
    adapter: str
    name: str
    """The tool's name."""
    created_at: datetime
    session_id: UUID | None = None
    call_id: str | None = None
    params: Any = None
    """The arguments, as plain JSON values where the slice is a file."""
    result: Any = None
    error: str | None = None
    """Why it failed; None when it did not."""
    duration_ms: float | None = None

    @property
    def success(self) -> bool:
        """Whether the tool did not fail."""
        return self.error is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptExecuted:
    """An evaluation has ended, with an answer or with an error."""

    prompt_name: str
    adapter: str
    created_at: datetime
    session_id: UUID | None = None
    text: str = ""
    """The final answer."""
    usage: dict[str, Any] | None = None
    """Token counts as the provider gave them."""
    error: str | None = None
    """Why there is no answer; None when there is one."""
    duration_ms: float | None = None
