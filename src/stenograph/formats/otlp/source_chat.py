"""The chat of one source of a conversation, the agent itself or a subagent: its model calls and tool uses, in order.

Every model call repeats the conversation so far; `Chat` and its history find what is new. A tool use appears two or
three times: in the answer that asks for it, in its own span, and in the next call that sends the result to the model.
It is emitted from the first of these.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from stenograph.formats.otlp.model_call import ModelCall
from stenograph.formats.otlp.tool_use import ToolUse, match_score
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.chat import Chat
from stenograph.formats.shared.model_api.history import Mark, mark
from stenograph.formats.shared.model_api.parts import FIDELITY, outcome, plain_text
from stenograph.formats.shared.model_api.turn import Turn
from stenograph.model.payload import ToolPayload

_SILENT = {"repeated", "request", "empty_response"}
"""Subtypes of notes that a call brought nothing new: useful in a log of requests, not for spans."""
_OBSERVATION = "tool-response"
_LAST_OUTPUTS = 8


class Call(Struct):
    """A call that was emitted. Its input is remembered until it is answered; of its output, a digest."""

    name: str
    input: Any
    is_answered: bool = False
    output: bytes = b""
    error: str | None = None
    """Why it failed, if it has no output."""


class SourceChat(Chat):
    """Emits what is new in model calls and tool uses."""

    def __init__(self, emit: Callable[[str, Any], None], unknown: Callable[[Any, object], None]) -> None:
        super().__init__(self._emit_new, unknown)
        self._forward = emit
        self._calls: dict[str, Call] = {}
        self._claimed: dict[str, str] = {}
        """The ids of calls, by the spans of their tool uses."""
        self._said: Counter[str] = Counter()
        """Texts of answers, for histories that repeat an answer in another form."""
        self._outputs: deque[str] = deque(maxlen=_LAST_OUTPUTS)
        self._answer = ""
        """The id of the answer that is being emitted."""

    def ask(self, call: ModelCall) -> None:
        """Emit what is new in the model's input."""
        self.request({"messages": call.messages, "tools": call.tools})

    def answer(self, call: ModelCall) -> None:
        """Emit what the model answered, and its tokens."""
        self._answer = call.id
        if call.choices:
            self.response({"id": call.id, "model": call.model, "choices": call.choices})
            for choice in call.choices[:1]:
                self._said.update(_texts(a_dict(choice.get("message")).get("content")))
        self._count(call.usage)

    def claim(self, span_id: str, use: ToolUse) -> str:
        """The id of the call that a use belongs to; a new one if no answer asked for it."""
        if span_id not in self._claimed:
            self._claimed[span_id] = self._find(use) or use.call_id or span_id.rpartition("/")[2]
        return self._claimed[span_id]

    def _find(self, use: ToolUse) -> str | None:
        if use.call_id in self._calls:
            return use.call_id
        taken = set(self._claimed.values())
        waiting = ((name, call) for name, call in self._calls.items() if not call.is_answered and name not in taken)
        matches = [(match_score(use, call.name, call.input), name) for name, call in waiting]
        best = max(matches, key=lambda each: each[0], default=(0, ""))
        return best[1] if best[0] else None

    def begin(self, call_id: str, use: ToolUse) -> None:
        """Emit the call of a use that no answer asked for."""
        if call_id not in self._calls:
            self._emit("tool.call", _payload(use, call_id, input=use.input))

    def end(self, call_id: str, use: ToolUse) -> None:
        """Emit the result of a use, unless it was emitted."""
        call = self._calls.get(call_id)
        if call is not None and not call.is_answered:
            output, blocks = outcome(use.output)
            self._emit(
                "tool.result",
                _payload(use, call_id, output=output, error=use.error, duration_ms=use.duration_ms, blocks=blocks),
            )

    # Every event of `Chat` passes here.

    def _emit_new(self, type: str, payload: Any) -> None:
        if type == "tool.call":
            if payload.call_id in self._calls:
                return
            self._calls[payload.call_id] = Call(payload.name, payload.input)
        elif type == "tool.result":
            call = self._calls.setdefault(payload.call_id, Call(payload.name, None))
            call.is_answered, call.input, call.output = True, None, _digest(payload.output)
            call.error = payload.error if payload.output is None else None
            self._outputs.append(a_str(payload.output).strip())
        elif type == "system.event" and payload.subtype in _SILENT:
            return
        self._forward(type, payload)

    def _say(self, items: list[dict[str, Any]], system: str | None) -> None:
        """Emit messages of a history, except those that were emitted in another form."""
        for item in items:
            if self._was_said(item):
                continue
            if item.get("role") == _OBSERVATION:
                self._note("tool_response", plain_text(item.get("content")))
            else:
                super()._say([item], system)
                system = None

    def _was_said(self, item: dict[str, Any]) -> bool:
        role = item.get("role")
        if role == _OBSERVATION:
            return self._was_observed(plain_text(item.get("content")))
        if role not in ("assistant", "model") if isinstance(role, str) else True:
            return False
        calls = dicts(item.get("tool_calls"))
        texts = _texts(item.get("content"))
        if not (calls or texts) or any(first_str(call, "id") not in self._calls for call in calls):
            return False
        if any(self._said[text] <= 0 for text in texts):
            return False
        self._said.subtract(texts)
        return True

    def _was_observed(self, text: str) -> bool:
        """Whether smolagents repeats the outputs of the last tools as text."""
        observed = text.removeprefix("Observation:").strip()
        outputs = list(self._outputs)
        return any(observed == "\n".join(outputs[start:]) for start in range(len(outputs)))

    def _mark(self, item: dict[str, Any]) -> Mark:
        """The mark of a message: its text without the thinking, and the calls that it is about."""
        words = "".join(_texts(item.get("content")))
        calls = [
            first_str(call, "id") or repr((a_dict(call.get("function")).get("name"), call))
            for call in dicts(item.get("tool_calls"))
        ]
        if item.get("role") == "tool":
            words = words or repr(item.get("content"))
        result = a_str(item.get("tool_call_id"))
        more = (calls, result) if calls or result else ()
        return mark(item.get("role"), words, *more, has_ids=bool(more) and not _is_numbered(item), answers=result)

    def _call_id(self, native_id: Any, name: str) -> str:
        """The id of a call. google-adk numbers the parts of each answer, so a reused id gets the answer's id added."""
        call_id = super()._call_id(native_id, name)
        return f"{call_id}:{self._answer}" if call_id in self._calls and self._answer else call_id

    def _emit_result(self, item: dict[str, Any]) -> None:
        """Emit a result in a history, unless it was emitted from the tool use."""
        call_id, content = a_str(item.get("tool_call_id")), item.get("content")
        name = a_str(item.get("name")) or ("" if call_id in self._calls else _name_in(call_id))
        if call_id not in self._calls:
            if any(_same(call, content) for call in self._calls.values()):
                return  # google-adk numbers the results of a turn differently from the calls
            call_id = self._open_call(name) or call_id or name
        call = self._calls.get(call_id)
        if call is not None and call.is_answered:
            if call.error is not None and call.error not in plain_text(content):
                self._note("tool_response", plain_text(content) or None, item)
            return
        turn = Turn()
        turn.result(call_id, content, name=name if call is None else call.name)
        turn.emit_tools(self._emit)

    def _open_call(self, name: str) -> str | None:
        waiting = (each for each, call in self._calls.items() if not call.is_answered and call.name == name)
        return next(waiting, None)


def _name_in(call_id: str) -> str:
    """The name of the tool in an id that is made of it and a number."""
    name, _, number = call_id.rpartition("_")
    return name if number.isdecimal() else ""


def _same(call: Call, content: Any) -> bool:
    return call.is_answered and call.output == _digest(content)


def _digest(content: Any) -> bytes:
    """A digest to compare contents, the same for JSON in a string and the decoded value."""
    return blake2b(repr(arguments_of(content)).encode("utf-8", "backslashreplace"), digest_size=8).digest()


def _is_numbered(item: dict[str, Any]) -> bool:
    """Whether the ids are google-adk's, made of the tool's name and a number, which it reuses."""
    for call in dicts(item.get("tool_calls")):
        name = a_str(a_dict(call.get("function")).get("name"))
        if name and _name_in(a_str(call.get("id"))) == name:
            return True
    return bool(_name_in(a_str(item.get("tool_call_id"))))


def _texts(content: Any) -> list[str]:
    """The texts of a content, without white space at their edges."""
    if isinstance(content, str):
        return [text] if (text := content.strip()) else []
    parts = (part.get("text") for part in dicts(a_list(content)) if part.get("type") in (None, "text"))
    return [text for part in parts if (text := a_str(part).strip())]


def _payload(use: ToolUse, call_id: str, *, input: Any = None, output: Any = None, **more: Any) -> ToolPayload:
    return ToolPayload(name=use.name, call_id=call_id, input=input, output=output, fidelity=FIDELITY, **more)
