"""OpenAIModelConfig: how a model is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from stenograph.adapters.tool_loop import MAX_TURNS

_MAX_TOKENS = {"chat": "max_completion_tokens", "responses": "max_output_tokens"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIModelConfig:
    """How a model is asked, and what a session is told."""

    temperature: float | None = None
    max_tokens: int | None = None
    """The most that one answer may take, reasoning included."""
    stream: bool = False
    """Whether answers are streamed; the record is the same."""
    api: Literal["chat", "responses"] = "chat"
    max_turns: int = MAX_TURNS
    """Model calls in one evaluation; one more is an `AgentError`."""
    capture_transcript: bool = False
    """Whether every entry is dispatched to the session."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Further parameters of every request, by the names of the API; they win over the others."""

    def request(self, model: str) -> dict[str, Any]:
        """The parameters that every request has."""
        given = {"temperature": self.temperature, _MAX_TOKENS[self.api]: self.max_tokens}
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.stream:
            chosen["stream"] = True
            if self.api == "chat":
                chosen["stream_options"] = {"include_usage": True}
        return {"model": model, **chosen, **self.parameters}
