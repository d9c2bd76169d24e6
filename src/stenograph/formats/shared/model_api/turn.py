"""A turn: what one side said and did in one record, collected so that it is emitted in the order of the wire format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.model_api.parts import FIDELITY, outcome, plain_text, text_block
from stenograph.model.block import Block, ToolResultBlock, ToolUseBlock
from stenograph.model.payload import MessagePayload, ToolPayload

Emit = Callable[[str, Any], None]


class Turn:
    """Blocks in order, with the tool events that go with them."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._tools: list[tuple[str, ToolPayload]] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was said or done."""
        return not self.blocks and not self._tools

    def say(self, text: str) -> None:
        """Add text, unless it is empty."""
        if text:
            self.blocks.append(text_block(text))

    def call(
        self, call_id: str, name: str, input: Any, *, kind: str | None = None, namespace: str | None = None
    ) -> None:
        """Add a call of a tool."""
        block = ToolUseBlock(
            fidelity=FIDELITY, tool_name=name, tool_id=call_id, tool_input=input, namespace=namespace, kind=kind
        )
        self.blocks.append(block)
        self._tools.append(("tool.call", call_of(block)))

    def result(
        self, call_id: str, content: Any, *, name: str = "", failed: bool = False, block: bool = False, why: str = ""
    ) -> None:
        """Add a tool's result; with `block`, also as a block of the message."""
        output, blocks = outcome(content)
        if block:
            self.blocks.append(ToolResultBlock(fidelity=FIDELITY, tool_id=call_id, tool_content=content))
        words = output if isinstance(output, str) else plain_text(content)
        error = (why or words or "failed") if failed else None
        payload = ToolPayload(
            name=name, call_id=call_id, input=None, output=output, error=error, fidelity=FIDELITY, blocks=blocks
        )
        self._tools.append(("tool.result", payload))

    def emit_message(self, emit: Emit, role: str, **more: Any) -> None:
        """Emit the message, then its tool events."""
        emit(f"message.{role}", MessagePayload(role=role, blocks=tuple(self.blocks), **more))
        self.emit_tools(emit)

    def emit_tools(self, emit: Emit) -> None:
        """Emit the tool events without a message."""
        for kind, payload in self._tools:
            emit(kind, payload)
