"""A `tool_use` block as the payload of its `tool.call`: one mapping for every format."""

from __future__ import annotations

from stenograph.model.block import ToolUseBlock
from stenograph.model.payload import ToolPayload


def call_of(block: ToolUseBlock) -> ToolPayload:
    """The payload of the call that a `tool_use` block asks for."""
    return ToolPayload(
        name=block.tool_name,
        call_id=block.tool_id,
        input=block.tool_input,
        output=None,
        fidelity=block.fidelity,
        namespace=block.namespace,
        kind=block.kind,
    )
