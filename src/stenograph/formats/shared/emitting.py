"""Methods that emit answers, results, tokens, notes and errors, for all formats whose records are such things."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import a_str
from stenograph.formats.shared.model_api.parts import FIDELITY, outcome, plain_text
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload, UsagePayload


class EmittingFormat(LineFormat):
    """A format that emits what its records say, one after the other."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._emitted: set[int] = set()
        """What was emitted, by digests of kinds and names."""
        self._tools = ToolDefinitions()

    def _answer(self, blocks: Iterable[Block], **more: Any) -> None:
        """Emit a message of the model, and the calls that it asks for."""
        said = tuple(blocks)
        self._emit("message.assistant", MessagePayload(role="assistant", blocks=said, **more))
        for block in said:
            if isinstance(block, ToolUseBlock):
                self._emit("tool.call", call_of(block))

    def _result(
        self,
        call_id: Any,
        content: Any,
        *,
        name: str = "",
        error: str | None = None,
        failed: bool = False,
        duration_ms: float | None = None,
        media: Iterable[Block] = (),
    ) -> None:
        """Emit a tool's result; `failed` if it failed without an error text, `media` for blocks beside it."""
        output, blocks = outcome(content)
        blocks = (*(blocks or ()), *media) or None
        if failed and not error:
            error = (output if isinstance(output, str) else plain_text(content)) or "failed"
        payload = ToolPayload(
            name=name,
            call_id=self._answered_call(call_id, name),
            input=None,
            output=output,
            error=error or None,
            fidelity=FIDELITY,
            duration_ms=duration_ms,
            blocks=blocks,
        )
        self._emit("tool.result", payload)

    def _answered_call(self, call_id: Any, name: str) -> str:
        """The id of the call that a result answers."""
        return a_str(call_id)

    def _usage(self, usage: UsagePayload | None) -> None:
        if usage is not None:
            self._emit("token.usage", usage)

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        """Emit a system event."""
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data))

    def _define(self, tools: Any) -> None:
        """Emit the definitions of tools, if they are new or changed."""
        if (definitions := self._tools.changed(tools)) is not None:
            self._emit("system.event", definitions)

    def _error(self, message: str, code: str | None = None, data: Any = None) -> None:
        self._emit("error", ErrorPayload(message=message or "error", code=code, data=data))
