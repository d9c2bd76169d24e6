"""Which tools a model call asked for, so that its tokens can be shared by them.

Theory of operation. Everything that one source says between two tool results or messages to it is one model call;
lines that name the same message belong to the call of the first of them. Usage may come after the results of the
call's tools: some agents report it late. The tokens of a call are shared evenly by the tools that it asked for, or
belong to `NO_TOOL` where it asked for none; so the shares add up to all tokens. This module names the tools; the index
divides the tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

NO_TOOL = "(no tool)"
_ANSWERS = frozenset({"message.user", "tool.result"})
MODEL_CALL_TYPES = _ANSWERS | {"message.assistant", "tool.call", "token.usage"}
"""The types of events that model calls are made of."""


@dataclass(slots=True)
class ModelCall:
    """One call of a model."""

    number: int
    """In its run, from 1 on."""
    tools: list[str] = field(default_factory=list)
    """The names of the tools it asked for, in order, as often as it did."""
    is_over: bool = False
    """Its source has since got a tool result or a message, so what it says next is another call."""

    @property
    def shares(self) -> list[str]:
        """The tools that share its tokens."""
        return self.tools or [NO_TOOL]


class ModelCalls:
    """The model calls of one run; its events must be added in order."""

    def __init__(
        self,
        last: int = 0,
        current: dict[str, ModelCall] | None = None,
        of_message: Callable[[str], ModelCall | None] = lambda _: None,
    ) -> None:
        """For a run whose earlier events were added before: the last number, the newest call of each source, and a
        function that finds the call of a message.
        """
        self._last = last
        self.current = current or {}
        """The newest call of each source."""
        self.messages: dict[str, ModelCall] = {}
        """Calls by the ids of their messages, as far as the added events name them."""
        self.changed: dict[int, ModelCall] = {}
        """Calls that the added events began or changed, by number."""
        self._of_message = of_message
        self._known = {call.number: call for call in self.current.values()}
        """Calls of earlier events by number: always the same object for a call, because calls are changed in place."""

    def add(self, source: str, type: str, tool: str, message_id: str | None) -> ModelCall | None:
        """Take the next event, of one of `MODEL_CALL_TYPES`, into account; returns its call, if it has one."""
        if type in _ANSWERS:
            call = self.current.get(source)
            if call is not None and not call.is_over:
                call.is_over = True
                self.changed[call.number] = call
            return None
        call = self._call_for(source, type, message_id)
        if type == "tool.call":
            call.tools.append(tool)
            self.changed[call.number] = call
        return call

    def _call_for(self, source: str, type: str, message_id: str | None) -> ModelCall:
        call = self._call_of_message(message_id) if message_id else None
        if call is None:
            call = self.current.get(source)
            if call is None or (call.is_over and type != "token.usage"):
                self._last += 1
                call = self.changed[self._last] = ModelCall(self._last)
            if message_id:
                self.messages[message_id] = call
        self.current[source] = call
        return call

    def _call_of_message(self, message_id: str) -> ModelCall | None:
        call = self.messages.get(message_id) or self._of_message(message_id)
        return None if call is None else self._known.setdefault(call.number, call)
