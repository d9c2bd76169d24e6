"""Blocks: the pieces of a message, each with who vouches for it."""

from __future__ import annotations

from typing import Any, Literal

from stenograph.model.value import Value

Fidelity = Literal["router", "agent_emitted"]
"""`router`: recorded where the tool ran. `agent_emitted`: reported by the agent."""


class TextBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Plain text."""

    fidelity: Fidelity
    text: str


class ThinkingBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="thinking"):
    """Reasoning that the agent showed, with what its provider needs to accept it again."""

    fidelity: Fidelity
    thinking: str
    """Empty where all of it is encrypted or was left out."""
    signature: str | None = None
    """Lets the provider verify its own thinking."""
    id: str | None = None
    """The provider's id of the reasoning item; blocks of one item share it."""
    encrypted_content: str | None = None
    """The reasoning as only the provider can read it, on the first block of its item."""


class ToolUseBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="tool_use"):
    """The agent's request to run a tool."""

    fidelity: Fidelity
    tool_name: str
    tool_id: str
    """Joins the request to its `tool.call` and `tool.result` (their `call_id`)."""
    tool_input: Any
    namespace: str | None = None
    """The group of tools that the name belongs to, where the API has groups."""
    kind: str | None = None
    """`custom` (free text as input), `server` (run on the API's side); absent for a function."""


OPAQUE = ("signature", "encrypted_content")
"""Fields of blocks that only their provider can read: not searched and not shown. Masked only for sharing, and there
only issued tokens and known secrets."""


class ToolResultBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="tool_result"):
    """A tool's answer as it was in a message."""

    fidelity: Fidelity
    tool_id: str
    tool_content: Any


class CommandBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="command"):
    """A shell command that a step ran."""

    fidelity: Fidelity
    command: str


class StreamBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="stream"):
    """A chunk of a streamed reply; not part of the message's text."""

    fidelity: Fidelity
    text: str


class AttachmentBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="attachment"):
    """An image, document or sound."""

    fidelity: Fidelity
    media_type: str
    size: int
    """Bytes of the content itself, before base64."""
    sha256: str
    data: str | None = None
    """The content in base64, when it was kept."""


class UnknownBlock(Value, frozen=True, kw_only=True, tag_field="type", tag="unknown"):
    """A block of a type this version does not know; all of it is in `extra`."""


Block = (
    TextBlock
    | ThinkingBlock
    | ToolUseBlock
    | ToolResultBlock
    | CommandBlock
    | StreamBlock
    | AttachmentBlock
    | UnknownBlock
)


def words_of(block: Block) -> str:
    """The text or thinking of a block; empty for every other kind."""
    match block:
        case TextBlock(text=text):
            return text
        case ThinkingBlock(thinking=text):
            return text
    return ""
