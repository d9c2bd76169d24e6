"""What readers of agents' databases and documents share: methods that emit messages, calls, results and notes.

They are read more than once while the agent works, and a record comes again when it changed. So a reader asks
`_is_first` before it emits something that has a name: nothing is emitted twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.model_api.parts import FIDELITY, outcome
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload, ToolPayload, UsagePayload


class MessageFormat(LineFormat):
    """A format whose records are messages and what happens between them. Subclasses set `name` and give `_map`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._emitted: set[int] = set()
        """What was emitted, by digests of names."""
        self._facts: dict[str, dict[str, Any]] = {}
        """The last emitted facts of things whose facts change."""
        self._tools = ToolDefinitions()

    def _is_first(self, kind: str, name: str) -> bool:
        """Whether a thing of this kind and name was not emitted before; without a name it is always new."""
        if not name:
            return True
        digest = digest_of(kind, name)
        if digest in self._emitted:
            return False
        self._emitted.add(digest)
        return True

    def _user(self, blocks: Iterable[Block], message_id: str | None = None) -> None:
        """Emit a message of the user."""
        self._emit("message.user", MessagePayload(role="user", blocks=tuple(blocks), message_id=message_id))

    def _answer(self, blocks: Iterable[Block], **more: Any) -> None:
        """Emit a message of the model, and the calls that it asks for."""
        said = tuple(blocks)
        self._emit("message.assistant", MessagePayload(role="assistant", blocks=said, **more))
        for block in said:
            if isinstance(block, ToolUseBlock):
                self._emit("tool.call", call_of(block))

    def _result(
        self, call_id: str, content: Any, *, name: str = "", error: str | None = None, duration_ms: float | None = None
    ) -> None:
        """Emit a tool's result; `error` if the agent says that it failed."""
        output, blocks = outcome(content)
        payload = ToolPayload(
            name=name,
            call_id=call_id,
            input=None,
            output=output,
            error=error or None,
            fidelity=FIDELITY,
            duration_ms=duration_ms,
            blocks=blocks,
        )
        self._emit("tool.result", payload)

    def _usage(self, usage: UsagePayload | None) -> None:
        if usage is not None:
            self._emit("token.usage", usage)

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        """Emit a system event."""
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data))

    def _emit_changes(self, subtype: str, facts: dict[str, Any], text: str | None = None, *, of: str = "") -> None:
        """Emit the facts of a thing (`of` names one of several): all of them at first, then those that changed."""
        known = self._facts.get(f"{subtype} {of}".strip())
        self._facts[f"{subtype} {of}".strip()] = facts
        if known is None:
            self._note(subtype, text, facts)
        elif changed := {name: value for name, value in facts.items() if known.get(name) != value}:
            self._note(subtype, text, changed)
        else:
            self._note("repeated", data={"what": subtype})

    def _define(self, tools: Any) -> None:
        """Emit the definitions of tools, if they are new or changed."""
        if (definitions := self._tools.changed(tools)) is not None:
            self._emit("system.event", definitions)

    def _error(self, message: str, code: str | None = None, data: Any = None) -> None:
        self._emit("error", ErrorPayload(message=message or "error", code=code, data=data))


def use_of(call_id: str, name: str, arguments: Any) -> ToolUseBlock:
    """The block of a call."""
    return ToolUseBlock(fidelity=FIDELITY, tool_name=name, tool_id=call_id, tool_input=arguments)
