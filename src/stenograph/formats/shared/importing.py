"""What readers of exchange files share: methods that emit what such a file holds, and a report of what is lost.

Theory of operation. An exchange file is written by one program to be read by others: a record holds a whole run, or one
message of it; a list is its records. The reader calls the methods below, in the order of the file. A
system prompt waits for the user message that it goes with, within a line or a document. Everything in the file that no
event holds is counted by `_drop`, everything that reads differently by `_change`; `losses` is the report of both, in
the shape of an export's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from stenograph.fold.losses import LossReport
from stenograph.formats.base import Context, LineFormat
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.call_ids import CallIds
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.model_api.parts import FIDELITY, outcome, plain_text, text_block
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model import mend
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.event import EVENT_TYPES, Event
from stenograph.model.payload import (
    ErrorPayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)

_BESIDE = frozenset(
    name
    for name in EVENT_TYPES
    if name in ("system.event", "error", "unknown", "tool.result") or name.startswith(("run.", "step."))
)
"""Events that our exports write unchanged, because a chat has no message for them."""


class ImportFormat(LineFormat):
    """A reader of exchange files. Subclasses set `name` and give `_record`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.losses = LossReport(self.name, run_id=context.run_id)
        self._ids = CallIds("" if context.source == "main" else f"{context.source}/")
        self._tools = ToolDefinitions()
        self._system: list[str] = []
        self._is_line = True
        """Whether a record is a line; those of a document have no lines of their own."""
        self._sources: set[str] = set()
        self._emitted: set[int] = set()
        """What was emitted, by digests of kinds and names."""

    def _record(self, record: dict[str, Any]) -> None:
        """Emit the events of one record; a record without any becomes an `unknown` event."""
        raise NotImplementedError

    def feed_object(self, record: dict[str, Any]) -> list[Event]:
        """The events of one record of a document; a system prompt waits for the record of its user message."""
        self._is_line = False
        return super().feed_object(record)

    def _map(self, record: Any) -> None:
        if not isinstance(record, list):
            self._one(record)
            return
        is_line, self._is_line = self._is_line, False
        for each in record:
            self._one(each)
        self._is_line = is_line
        if is_line:
            self._emit_system()

    def _one(self, record: Any) -> None:
        before, waiting = len(self._out), len(self._system)
        if isinstance(record, dict):
            self._record(record)
        if len(self._out) > before:
            return
        if len(self._system) > waiting:
            if self._is_line:
                self._emit_system()  # each line has an event of its own
            else:
                self._accumulate()
        else:
            self._place()
            self._unknown(record, record.get("type") if isinstance(record, dict) else None)

    def _finish(self) -> None:
        self._emit_system()

    def _taken(self) -> list[Event]:
        events = super()._taken()
        from stenograph.fold.carried import carry_events  # here: every start loads every format

        carry_events(events, self.losses)
        fresh = {event.source for event in events} - self._sources - {"main"}
        self.losses.carry("subagents", len(fresh))
        self._sources |= fresh
        return events

    # The loss report.

    @property
    def _next(self) -> int:
        """The number that the next event has."""
        return self.report.events + len(self._out) + 1

    def _drop(self, what: str, count: int = 1) -> None:
        """Count something of the file that is in no event; call it before the event that it would have been part of."""
        self.losses.drop(what, self._next, count)

    def _change(self, what: str, count: int = 1) -> None:
        """Count something of the file that is in the next event, but changed."""
        self.losses.change(what, self._next, count)

    def _drop_fields(self, record: dict[str, Any], known: Collection[str], kind: str) -> None:
        """Count the fields of a record that are not used; empty ones are ignored."""
        for name, value in record.items():
            if name not in known and value not in (None, "", [], {}):
                self._drop(f"{kind}: {name}")

    def _is_new(self, kind: str, name: str) -> bool:
        """Whether the thing of this kind and name was not emitted before; it is remembered."""
        digest = digest_of(kind, name)
        is_new = digest not in self._emitted
        self._emitted.add(digest)
        return is_new

    # Events.

    def _system_prompt(self, text: str) -> None:
        """Take a system prompt, which goes with the next user message."""
        self._system.append(text)

    def _emit_system(self) -> None:
        """Emit a system prompt that no user message followed."""
        if self._system:
            text, self._system = "\n".join(self._system), []
            self._note("system_prompt", text)

    def _define(self, tools: Any) -> None:
        """Emit the definitions of tools, if they are new or changed."""
        definitions = self._tools.changed(tools)
        if definitions is not None:
            self._emit("system.event", definitions)

    def _user(self, blocks: Iterable[Block], *, message_id: str | None = None) -> None:
        """Emit a user message, with the system prompt that came before it."""
        said, prompt = tuple(blocks), None
        if self._system:
            prompt, self._system = "\n".join(self._system), []
            said = (*said, text_block(prompt))
        self._emit(
            "message.user", MessagePayload(role="user", blocks=said, system_prompt=prompt, message_id=message_id)
        )

    def _answer(self, blocks: Iterable[Block], **more: Any) -> None:
        """Emit a model's message, and the calls it asks for."""
        self._emit_system()
        said = tuple(blocks)
        self._emit("message.assistant", MessagePayload(role="assistant", blocks=said, **more))
        for block in said:
            if isinstance(block, ToolUseBlock):
                self._emit("tool.call", call_of(block))

    def _use(self, call_id: Any, name: str, input: Any, **more: Any) -> ToolUseBlock:
        """The block of a call; without an id, one is made of its tool's name."""
        return ToolUseBlock(
            fidelity=FIDELITY, tool_name=name, tool_id=self._ids.of_call(call_id, name), tool_input=input, **more
        )

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
        """Emit a tool's result; `failed` when the file says so without an error text, `media` for blocks beside it."""
        output, blocks = outcome(content)
        blocks = (*(blocks or ()), *media) or None
        if failed and not error:
            error = (output if isinstance(output, str) else plain_text(content)) or "failed"
        self._emit(
            "tool.result",
            ToolPayload(
                name=name,
                call_id=self._ids.of_result(call_id, name),
                input=None,
                output=output,
                error=error or None,
                fidelity=FIDELITY,
                duration_ms=duration_ms,
                blocks=blocks,
            ),
        )

    def _usage(self, usage: UsagePayload | None) -> None:
        if usage is not None:
            self._emit("token.usage", usage)

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        """Emit a system event."""
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data))

    def _restored(self, type: str, facts: dict[str, Any], *, path: str = "", iteration: int = 0) -> None:
        """Emit an event that our export wrote unchanged: `facts` has its `payload`."""
        if type not in _BESIDE:
            self._emit("unknown", UnknownPayload(value=facts))
            return
        self._emit(type, mend.payload_from(type, facts.get("payload")))
        if path:
            self._out[-1] = mend.filled(self._out[-1], path=path, iteration=iteration)

    def _error(self, message: str, code: str | None = None, data: Any = None) -> None:
        self._emit("error", ErrorPayload(message=message or "error", code=code, data=data))
