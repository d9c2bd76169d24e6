"""A dialect: how one model API writes requests, answers and streams, and the events they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from stenograph.formats.shared.call_ids import CallIds
from stenograph.formats.shared.loose import a_dict, a_str, first_str
from stenograph.formats.shared.model_api.history import History, Mark
from stenograph.formats.shared.model_api.parts import text_block
from stenograph.formats.shared.model_api.recent import Recent
from stenograph.formats.shared.model_api.turn import Emit, Turn
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.ids import is_unique
from stenograph.model.payload import ErrorPayload, SystemPayload, UsagePayload


class Dialect:
    """One model API. Subclasses read its shapes; this class has what all of them share."""

    items_key = "messages"
    """Where a request holds its conversation."""

    def __init__(self, emit: Emit, unknown: Callable[[Any, object], None]) -> None:
        self._emit = emit
        self._unknown = unknown
        self.call: str | None = None
        """The call that is being emitted, if the log distinguishes calls."""
        self._history = History()
        self._usages: Recent[str, UsagePayload] = Recent()
        self._times: Recent[str, int] = Recent()
        """How many answers had an id that is not unique."""
        self._emitted: Recent[tuple[str, tuple[Mark, ...]], bool] = Recent()
        self._ids = CallIds()
        self._before: tuple[list[dict[str, Any]], list[Mark]] = [], []
        self._tools = ToolDefinitions()

    # What a dialect implements.

    def request(self, body: dict[str, Any]) -> None:
        """Emit what is new in a request."""
        raise NotImplementedError

    def response(self, body: dict[str, Any]) -> None:
        """Emit an answer."""
        raise NotImplementedError

    def bare(self, record: dict[str, Any]) -> bool:
        """Take a record without a wrapper (also a chunk); False when it is not of this API."""
        raise NotImplementedError

    def flush(self) -> None:
        """Emit what a stream held when it ended without its last event."""

    def _mark(self, item: dict[str, Any]) -> Mark:
        """The mark by which a message of this dialect is recognized."""
        raise NotImplementedError

    def _say(self, items: list[dict[str, Any]], system: str | None) -> None:
        """Emit new messages of a request; `system` goes with the first, which is the user's."""
        raise NotImplementedError

    # What a dialect uses.

    def _converse(
        self, items: list[dict[str, Any]], system: str | None, *, after: str | None = None, grows: bool = False
    ) -> None:
        """Emit what a conversation has that was not emitted before."""
        tail = self._history.tail(self._marks(items), system, after=after, grows=grows, call=self.call)
        new = [items[place] for place in tail.new]
        prompt = tail.system
        if prompt and not (new and self._is_prompt(new[0])):
            self._note("system_prompt", prompt)
            prompt = None
        for place in tail.rewritten:
            self._note("rewritten", data=items[place])
        self._say(new, prompt)
        if not (new or tail.rewritten or tail.system):
            self._note("repeated" if items else "request")

    def _marks(self, items: list[dict[str, Any]]) -> list[Mark]:
        """The marks of a request's messages; those at the same place in the request before are reused."""
        before, known = self._before
        marks = []
        for place, item in enumerate(items):
            # The caller may have changed the same object in place.
            is_known = place < len(known) and before[place] is not item and before[place] == item
            marks.append(known[place] if is_known else self._mark(item))
        self._before = list(items), marks
        return marks

    def _is_prompt(self, item: dict[str, Any]) -> bool:
        return item.get("role") == "user"

    def _emit_user(self, turn: Turn, system: str | None) -> None:
        if system is not None:
            turn.blocks.append(text_block(system))
        turn.emit_message(self._emit, "user", system_prompt=system)

    def _was_emitted(self, answer_id: str | None, marks: list[Mark]) -> bool:
        """Whether this answer was emitted before: as a stream, or because the log repeats it."""
        return answer_id is not None and bool(self._emitted.get((answer_id, tuple(marks))))

    def _remember(self, answer_id: str | None, marks: list[Mark]) -> None:
        """Remember an answer that was emitted: the next request will repeat it."""
        self._history.answered(marks, answer_id, self.call)
        if answer_id is not None:
            self._emitted.put((answer_id, tuple(marks)), True)
            if not is_unique(answer_id):
                self._times.put(answer_id, (self._times.get(answer_id) or 0) + 1)

    def _count(self, usage: UsagePayload | None) -> None:
        """Emit a call's usage when it is first seen and when it changes.

        Local servers number their answers and start again; the second answer with an id gets a number.
        """
        times = self._times.get(usage.message_id) if usage is not None and usage.message_id else None
        if usage is not None and times is not None and times > 1:
            usage = replace(usage, message_id=f"{usage.message_id}:{times}")
        if usage is None or (usage.message_id and self._usages.get(usage.message_id) == usage):
            return
        if usage.message_id:
            self._usages.put(usage.message_id, usage)
        self._emit("token.usage", usage)

    def _define(self, tools: Any) -> None:
        """Emit the definitions of tools that came with a call, when they are new or changed."""
        definitions = self._tools.changed(tools)
        if definitions is not None:
            self._emit("system.event", definitions)

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text, data=data))

    def error(self, body: Any, status: int | None = None) -> None:
        """Emit that a call failed: an error object, or what came instead of it."""
        fault = body.get("error", body) if isinstance(body, dict) else body
        details = a_dict(fault)
        message = first_str(details, "message", "text", "error_message", "detail") or a_str(fault)
        code = details.get("code")
        named = str(code) if isinstance(code, str | int) and code else first_str(details, "type", "error_class")
        self._emit(
            "error",
            ErrorPayload(
                message=message or (f"HTTP {status}" if status else "error"),
                code=named if named and named != "error" else (str(status) if status else None),
                data={**details, **({"status": status} if status else {})} or None,
            ),
        )

    def _call_id(self, native_id: Any, name: str) -> str:
        """The id of a call; without one, an id made of its name."""
        return self._ids.of_call(native_id, name)

    def _answered_id(self, native_id: Any, name: str) -> str:
        """The id of the call that a result answers."""
        return self._ids.of_result(native_id, name)
