"""The configuration that every adapter for a model API has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stenograph.text_transcripts import ThreadTranscripts

MAX_TURNS = 50
"""Model calls in one evaluation, unless the configuration says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """How a model is called, and where its transcript goes."""

    temperature: float | None = None
    max_tokens: int | None = None
    """The most that one answer may take, reasoning included."""
    stream: bool = False
    """Whether answers are streamed; the record is the same."""
    max_turns: int = MAX_TURNS
    """Model calls in one evaluation; one more is an `AgentError`."""
    capture_transcript: bool = False
    """Whether every entry is dispatched to the session."""
    text_transcripts: ThreadTranscripts | None = None
    """Also write every evaluation as a plain-text transcript when it has ended."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Further parameters of every request; they override the others."""

    def request(self, model: str) -> dict[str, Any]:
        """The parameters that every request has."""
        ours = {"model": model, "temperature": self.temperature, **self._of_the_api()}
        return {name: value for name, value in ours.items() if value is not None} | self.parameters

    def _of_the_api(self) -> dict[str, Any]:
        """Parameters whose names differ between APIs, as Chat Completions names them."""
        streamed = {"stream": True, "stream_options": {"include_usage": True}} if self.stream else {}
        return {"max_tokens": self.max_tokens, **streamed}
