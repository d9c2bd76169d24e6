"""Payloads: what an event says, one shape per group of event types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta

from stenograph.model.block import Block, Fidelity, StreamBlock, TextBlock
from stenograph.model.value import Value

ErrorText = Annotated[str, Meta(min_length=1)]
Tokens = Annotated[int, Meta(ge=0)]
Dollars = Annotated[float, Meta(ge=0)]
Scope = Literal["call", "turn", "total"]


TOOL_DEFINITIONS = "tool_definitions"
"""The subtype of a `system.event` that has the definitions of tools."""


class JournalEvidence(Value, frozen=True, kw_only=True):
    """The Merkle tree (RFC 6962) over the lines of a journal before this one, each without its newline."""

    leaves: Annotated[int, Meta(ge=0)]
    """How many lines there are before this one."""
    root: str
    """The root of the tree, in base64 as in a checkpoint."""


class LifecyclePayload(Value, frozen=True, kw_only=True):
    """A run or a step began or ended (`run.*`, `step.*`)."""

    name: str
    kind: str
    """agent, command, operation, terminal, parallel, for_each, while, call_workflow, workflow or the host's own."""
    error: ErrorText | None = None
    result: Any = None
    cwd: str | None = None
    """The folder in which a run began (`run.started`)."""
    evidence: JournalEvidence | None = None
    """What was recorded before the end of the run (`run.completed`); the recorder fills it in."""


SYNTHETIC = "<synthetic>"
"""What Claude Code names as the model of an answer that it wrote itself."""


class MessagePayload(Value, frozen=True, kw_only=True):
    """What a user or an agent said (`message.user`, `message.assistant`)."""

    role: str
    blocks: tuple[Block, ...]
    system_prompt: str | None = None
    """Also the last text block of its `message.user`."""
    model: str | None = None
    message_id: str | None = None
    """Joins the records over which an agent spread one message."""
    stop_reason: str | None = None
    replaces: bool | None = None
    """True where the agent rewrote the message: a text that continues an earlier one replaces it."""

    @property
    def real_model(self) -> str | None:
        """The model that answered; None where the source names none, or where no model answered."""
        return None if self.model == SYNTHETIC else self.model

    @property
    def said(self) -> tuple[Block, ...]:
        """The blocks without the copy of the system prompt, which is the last text of its message."""
        if self.system_prompt is None:
            return self.blocks
        last = next((n for n in reversed(range(len(self.blocks))) if isinstance(self.blocks[n], TextBlock)), None)
        if last is None or self.blocks[last].text != self.system_prompt:  # type: ignore[union-attr]  # it is a text
            return self.blocks
        return self.blocks[:last] + self.blocks[last + 1 :]

    @property
    def is_chunk(self) -> bool:
        """Whether it is only a piece of a streamed reply: neither a message nor part of one."""
        blocks = self.blocks
        return bool(blocks) and type(blocks[0]) is StreamBlock and all(type(block) is StreamBlock for block in blocks)


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
    """Present only when the agent or the recorder says that the tool failed."""
    fidelity: Fidelity
    duration_ms: float | None = None
    blocks: tuple[Block, ...] | None = None
    namespace: str | None = None
    """On a call: the group of tools that the name belongs to, where the API has groups."""
    kind: str | None = None
    """On a call: `custom` (free text as input), `server` (run on the API's side); absent for a function."""


class SystemPayload(Value, frozen=True, kw_only=True):
    """An event that is neither speech nor action of the agent (`system.event`)."""

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
    """Written to a cache, for any duration."""
    cache_creation_1h_input_tokens: Tokens | None = None
    """The part of `cache_creation_input_tokens` that was written for an hour."""
    reasoning_output_tokens: Tokens | None = None
    speed: str | None = None
    """The source's own word, such as `fast`."""
    service_tier: str | None = None
    """The source's own word, such as `standard`, `batch`, `flex` or `priority`."""
    cost_usd: Dollars | None = None
    """Only where the source itself names a cost."""
    model: str | None = None
    message_id: str | None = None


TOKEN_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
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
    """A record of unknown type: its JSON, or its text when it is not JSON (`unknown`)."""

    value: Any = UNSET
    text: str | None = None


Payload = LifecyclePayload | MessagePayload | ToolPayload | SystemPayload | UsagePayload | ErrorPayload | UnknownPayload
