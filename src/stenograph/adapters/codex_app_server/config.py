"""How to run `codex app-server`, and what may happen there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from stenograph.errors import AgentError
from stenograph.text_transcripts import ThreadTranscripts


class ApprovalRequest(Struct, frozen=True, kw_only=True):
    """A request of Codex for approval, or a question to a person."""

    method: str
    """The protocol's name for it, such as `item/commandExecution/requestApproval`."""
    params: dict[str, Any]
    """Its parameters by the protocol's names: `command`, `cwd`, `reason`, `questions` and so on."""


Decision = Literal["accept", "acceptForSession", "decline", "cancel"] | bool | Mapping[str, Any]
"""An answer to an approval request: a word of the protocol, yes or no, or the whole result as the protocol has it."""

Approvals = Literal["accept", "decline"] | Callable[[ApprovalRequest], Any]
"""One answer for all, or a function (sync or async) that gives a `Decision`."""


class CodexAppServerClientConfig(Struct, frozen=True, kw_only=True):
    """Settings of a `CodexAppServerAdapter`. What is None stays as Codex's own configuration has it."""

    codex_bin: str = "codex"
    """The program: a name on the PATH, or a path."""
    args: tuple[str, ...] = ()
    """More arguments for `codex app-server`."""
    cwd: str | Path | None = None
    """The folder in which Codex works; by default the current one."""
    env: Mapping[str, str] | None = None
    """Environment variables in addition to those of this process."""
    model: str | None = None
    model_provider: str | None = None
    effort: str | None = None
    """How much the model reasons: `low`, `medium`, `high` or what else it knows."""
    approval_policy: str | Mapping[str, Any] | None = None
    """When Codex asks for approval: `untrusted`, `on-request`, `never`, or the protocol's object."""
    sandbox_mode: str | None = None
    """`read-only`, `workspace-write` or `danger-full-access`."""
    config: Mapping[str, Any] | None = None
    """Keys of Codex's `config.toml` for these threads only, MCP servers included."""
    approvals: Approvals = "decline"
    """The answers to Codex's approval requests."""
    startup_timeout: float = 30.0
    """Seconds that the server has to answer a request other than a turn."""
    turn_timeout: float | None = None
    """Seconds until the turn is interrupted; None for no limit."""
    transcript_emission: bool = True
    """Log every entry of the transcript as DEBUG. A recorder gets the events either way."""
    transcript_emit_raw: bool = True
    """With the line of the protocol that it came from."""
    capture_transcript: bool = False
    """Also dispatch the entries to the session."""
    text_transcripts: ThreadTranscripts | None = None
    """Also write plain-text transcripts of every evaluation."""
    wire_log: str | Path | None = None
    """A file to which every line of both directions is appended; `steno convert` reads it."""
    suppress_stderr: bool = True
    """Do not print the server's stderr; its last lines are in the error when the server fails."""
    client_name: str = "stenograph"
    """The client name that we send."""

    def __post_init__(self) -> None:
        """Refuse settings that would fail later, in the middle of a turn."""
        if self.approvals not in ("accept", "decline") and not callable(self.approvals):
            raise AgentError(f"approvals is {self.approvals!r}; it must be 'accept', 'decline' or a function")
        for name in ("startup_timeout", "turn_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise AgentError(f"{name} is {seconds!r}; it must be a number of seconds above 0")
