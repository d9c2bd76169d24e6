"""What an adapter is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question to an agent; a plain string can be used if only the text matters."""

    text: str
    """What the user says."""
    name: str = "prompt"
    """What logs and transcripts call it."""
    system: str | None = None
    """The system prompt, if the agent takes one."""
    tools: tuple[Callable[..., Any], ...] = ()
    """Python functions, sync or async, that the model may call."""


@dataclass(frozen=True, slots=True)
class Response:
    """The result of a prompt."""

    prompt_name: str
    text: str
    """The final answer."""
    session_id: str | None = None
    """The agent's own id of the conversation, if it has one."""
    run_id: str | None = None
    """The recorded run, if any."""
    usage: dict[str, int] = field(default_factory=dict)
    """Tokens of all model calls together, by the names of the `token.usage` event."""


def prompt_of(given: Prompt | str) -> Prompt:
    """The prompt; a plain text becomes one."""
    return Prompt(given) if isinstance(given, str) else given
