"""A turn: what one side said and did in one record, put together before it is told in the order of WIRE."""

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
        """Text, unless there is none."""
        if text:
            self.blocks.append(text_block(text))

    def call(
        self, call_id: str, name: str, input: Any, *, kind: str | None = None, namespace: str | None = None
    ) -> None:
        """A tool was asked for."""
        block = ToolUseBlock(
            fidelity=FIDELITY, tool_name=name, tool_id=call_id, tool_input=input, namespace=namespace, kind=kind
        )
        self.blocks.append(block)
        self._tools.append(("tool.call", call_of(block)))

    def result(
        self, call_id: str, content: Any, *, name: str = "", failed: bool = False, block: bool = False, why: str = ""
    ) -> None:
        """A tool answered; with `block`, inside a message that has more to say."""
        output, blocks = outcome(content)
        if block:
            self.blocks.append(ToolResultBlock(fidelity=FIDELITY, tool_id=call_id, tool_content=content))
        words = output if isinstance(output, str) else plain_text(content)
        error = (why or words or "failed") if failed else None
        payload = ToolPayload(
            name=name, call_id=call_id, input=None, output=output, error=error, fidelity=FIDELITY, blocks=blocks
        )
        self._tools.append(("tool.result", payload))

    def tell(self, emit: Emit, role: str, **more: Any) -> None:
        """The message, then its tool events."""
        emit(f"message.{role}", MessagePayload(role=role, blocks=tuple(self.blocks), **more))
        self.tell_tools(emit)

    def tell_tools(self, emit: Emit) -> None:
        """The tool events alone, where there is no message around them."""
        for kind, payload in self._tools:
            emit(kind, payload)
