"""How to run Claude through its SDK, and what is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from stenograph.adapters.claude_agent_sdk.collector_config import TranscriptCollectorConfig
from stenograph.errors import AgentError
from stenograph.text_transcripts import ThreadTranscripts


class ClaudeAgentSDKClientConfig(Struct, frozen=True, kw_only=True):
    """Settings of a `ClaudeAgentSDKAdapter`. What is None or empty stays as `options` or the SDK has it."""

    capture_transcript: bool = False
    """Also dispatch the entries to the session."""
    capture_subagent_transcripts: bool = True
    """With those of subagents; the journal and the logs have them either way."""
    transcript_collection: TranscriptCollectorConfig | None = field(default_factory=TranscriptCollectorConfig)
    """How the session's files are followed; None records nothing: no logs, no journal, no entries."""
    text_transcripts: ThreadTranscripts | None = None
    """Also write plain-text transcripts of every evaluation."""
    options: Any = None
    """A `ClaudeAgentOptions` of yours, to begin with. Your hooks stay; ours come after them."""
    model: str | None = None
    cwd: str | Path | None = None
    """The folder in which Claude works; by default the current one."""
    allowed_tools: Sequence[str] = ()
    """Tools that run without asking, beside those of the options and of the prompt."""
    permission_mode: str | None = None
    """`default`, `acceptEdits`, `plan`, `bypassPermissions` or what else the SDK knows."""
    max_turns: int | None = None
    env: Mapping[str, str] | None = None
    """Environment variables in addition to those of this process and of the options."""
    hooks: Mapping[str, Sequence[Any]] | None = None
    """Hooks of yours beside those of the options: matchers by event."""
    timeout: float | None = None
    """Seconds until an evaluation is given up; None for no limit."""

    def __post_init__(self) -> None:
        """Refuse settings that would fail later, in the middle of an evaluation."""
        if self.timeout is not None and not self.timeout > 0:
            raise AgentError(f"timeout is {self.timeout!r}; it must be a number of seconds above 0")
