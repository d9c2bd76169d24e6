"""A wish to run a tool as the call that it is: one mapping for every format."""

from __future__ import annotations

from stenograph.model.block import ToolUseBlock
from stenograph.model.payload import ToolPayload


def call_of(block: ToolUseBlock) -> ToolPayload:
    """The call that a tool_use block asks for."""
    return ToolPayload(
        name=block.tool_name,
        call_id=block.tool_id,
        input=block.tool_input,
        output=None,
        fidelity=block.fidelity,
        namespace=block.namespace,
        kind=block.kind,
    )
