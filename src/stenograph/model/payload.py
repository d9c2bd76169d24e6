"""Payloads: what an event says, one shape per group of event types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta

from stenograph.model.block import Block, Fidelity
from stenograph.model.value import Value

ErrorText = Annotated[str, Meta(min_length=1)]
Tokens = Annotated[int, Meta(ge=0)]
Scope = Literal["call", "turn", "total"]


class LifecyclePayload(Value, frozen=True, kw_only=True):
    """A run or a step began or ended (`run.*`, `step.*`)."""

    name: str
    kind: str
    """agent, command, operation, terminal, parallel, for_each, while, call_workflow, workflow or the host's own."""
    error: ErrorText | None = None
    result: Any = None
    cwd: str | None = None
    """The folder in which a run began (`run.started`)."""


class MessagePayload(Value, frozen=True, kw_only=True):
    """What somebody said (`message.user`, `message.assistant`)."""

    role: str
    blocks: tuple[Block, ...]
    system_prompt: str | None = None
    """Also the last text block of its `message.user`."""
    model: str | None = None
    message_id: str | None = None
    """Joins the records over which an agent spread one message."""
    stop_reason: str | None = None
    replaces: bool | None = None
    """True where the agent wrote the message anew: a text that goes on where an earlier one ended stands for it."""


class ToolPayload(Value, frozen=True, kw_only=True):
    """A tool was called or answered (`tool.call`, `tool.result`)."""

    name: str
    """Empty where a result does not say it."""
    call_id: str
    input: Any
    """Null on a result."""
    output: Any
    """Null on a call."""
    error: ErrorText | None = None
    """Present only when the agent or our seam says that the tool failed."""
    fidelity: Fidelity
    duration_ms: float | None = None
    blocks: tuple[Block, ...] | None = None
    namespace: str | None = None
    """On a call: the group of tools that the name belongs to, where the API has groups."""
    kind: str | None = None
    """On a call: `custom` (free text as input), `server` (run on the API's side); absent for a function."""


class SystemPayload(Value, frozen=True, kw_only=True):
    """Something that is neither said nor done by the agent (`system.event`)."""

    subtype: str
    text: str | None = None
    data: Any = None


class UsagePayload(Value, frozen=True, kw_only=True):
    """Tokens that a model call, a turn or the run so far took (`token.usage`)."""

    scope: Scope
    input_tokens: Tokens
    """Cached input included."""
    output_tokens: Tokens
    """Reasoning included."""
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None
    reasoning_output_tokens: Tokens | None = None
    model: str | None = None
    message_id: str | None = None


TOKEN_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "reasoning_output_tokens",
)
"""The fields of `token.usage` that can be added up."""


class ErrorPayload(Value, frozen=True, kw_only=True):
    """The agent, its model or its host failed (`error`)."""

    message: str
    code: str | None = None
    retryable: bool | None = None
    data: Any = None


class UnknownPayload(Value, frozen=True, kw_only=True):
    """A record nobody knows: its JSON, or its text when it is not JSON (`unknown`)."""

    value: Any = UNSET
    text: str | None = None


Payload = LifecyclePayload | MessagePayload | ToolPayload | SystemPayload | UsagePayload | ErrorPayload | UnknownPayload
