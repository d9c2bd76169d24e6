"""LiteLLMModelConfig: how a model is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stenograph.adapters.tool_loop import MAX_TURNS


@dataclass(frozen=True, slots=True, kw_only=True)
class LiteLLMModelConfig:
    """How a model is asked, and what a session is told."""

    temperature: float | None = None
    max_tokens: int | None = None
    """The most that one answer may take."""
    stream: bool = False
    """Whether answers are streamed; the record is the same."""
    max_turns: int = MAX_TURNS
    """Model calls in one evaluation; one more is an `AgentError`."""
    capture_transcript: bool = False
    """Whether every entry is dispatched to the session."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Further arguments of `litellm.completion`, `api_base` and `api_key` among them; they win over the others."""

    def request(self, model: str) -> dict[str, Any]:
        """The arguments that every call has."""
        given = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.stream:
            chosen |= {"stream": True, "stream_options": {"include_usage": True}}
        return {"model": model, **chosen, **self.parameters}
