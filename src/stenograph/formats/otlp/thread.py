"""One speaker of a conversation: the agent itself, or a subagent. What its model and its tools told, in order.

Every model call repeats the conversation so far; `Chat` and its history find what is new. A tool is told of twice or
three times: the answer that asks for it, the span of its use, and the next call that hands the result to the model.
Whichever comes first tells it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from stenograph.formats.otlp.model_call import ModelCall
from stenograph.formats.otlp.tool_use import ToolUse, fits
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.chat import Chat
from stenograph.formats.shared.model_api.history import Mark, mark
from stenograph.formats.shared.model_api.parts import FIDELITY, outcome, plain_text
from stenograph.formats.shared.model_api.turn import Turn
from stenograph.model.payload import ToolPayload

_SILENT = {"repeated", "request", "empty_response"}
"""What a log of requests notes and a span need not: that a call brought nothing new."""
_OBSERVATION = "tool-response"
_LAST_OUTPUTS = 8


class Call(Struct):
    """A call that was told. What it was given is remembered until it is answered; of its output, a digest."""

    name: str
    input: Any
    is_answered: bool = False
    output: bytes = b""
    error: str | None = None
    """Why it failed, where nothing else came of it."""


class Thread(Chat):
    """Tells what model calls and uses of tools bring that is new."""

    def __init__(self, tell: Callable[[str, Any], None], unknown: Callable[[Any, object], None]) -> None:
        super().__init__(self._heard, unknown)
        self._tell = tell
        self._calls: dict[str, Call] = {}
        self._claimed: dict[str, str] = {}
        """The calls that uses of tools belong to, by the spans of the uses."""
        self._said: Counter[str] = Counter()
        """Texts of answers, for histories that repeat an answer in another form."""
        self._outputs: deque[str] = deque(maxlen=_LAST_OUTPUTS)
        self._answer = ""
        """The id of the answer that is being told."""

    @property
    def has_spoken(self) -> bool:
        """Whether any model call was told."""
        return bool(self._answer)

    def ask(self, call: ModelCall) -> None:
        """Tell what is new in what the model was given."""
        self.request({"messages": call.messages, "tools": call.tools})

    def hear(self, call: ModelCall) -> None:
        """Tell what the model answered, and what that took."""
        self._answer = call.id
        if call.choices:
            self.response({"id": call.id, "model": call.model, "choices": call.choices})
            for choice in call.choices[:1]:
                self._said.update(_texts(a_dict(choice.get("message")).get("content")))
        self._count(call.usage)

    def claim(self, span_id: str, use: ToolUse) -> str:
        """The id of the call that a use belongs to; one of its own where no answer asked for it."""
        if span_id not in self._claimed:
            self._claimed[span_id] = self._find(use) or use.call_id or span_id.rpartition("/")[2]
        return self._claimed[span_id]

    def _find(self, use: ToolUse) -> str | None:
        if use.call_id in self._calls:
            return use.call_id
        taken = set(self._claimed.values())
        waiting = ((name, call) for name, call in self._calls.items() if not call.is_answered and name not in taken)
        fitting = [(fits(use, call.name, call.input), name) for name, call in waiting]
        best = max(fitting, key=lambda each: each[0], default=(0, ""))
        return best[1] if best[0] else None

    def begin(self, call_id: str, use: ToolUse) -> None:
        """Tell the call of a use that no answer asked for."""
        if call_id not in self._calls:
            self._emit("tool.call", _payload(use, call_id, input=use.input))

    def end(self, call_id: str, use: ToolUse) -> None:
        """Tell what came of a use, unless that was told."""
        call = self._calls.get(call_id)
        if call is not None and not call.is_answered:
            output, blocks = outcome(use.output)
            self._emit(
                "tool.result",
                _payload(use, call_id, output=output, error=use.error, duration_ms=use.duration_ms, blocks=blocks),
            )

    # What is told passes here.

    def _heard(self, type: str, payload: Any) -> None:
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
        self._tell(type, payload)

    def _say(self, items: list[dict[str, Any]], system: str | None) -> None:
        """Tell messages of a history, those aside that were told in another form."""
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
        """Whether smolagents repeats, in words, what the last tools gave."""
        told = text.removeprefix("Observation:").strip()
        outputs = list(self._outputs)
        return any(told == "\n".join(outputs[start:]) for start in range(len(outputs)))

    def _mark(self, item: dict[str, Any]) -> Mark:
        """By what a message is known again: its words without the thinking, and the calls that it is about."""
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

    def _call_id(self, given: Any, name: str) -> str:
        """The id of a call. google-adk numbers the parts of each answer, so an id that was used is made a new one."""
        call_id = super()._call_id(given, name)
        return f"{call_id}:{self._answer}" if call_id in self._calls and self._answer else call_id

    def _emit_result(self, item: dict[str, Any]) -> None:
        """Tell a result that a history has, unless the use of the tool told it."""
        call_id, content = a_str(item.get("tool_call_id")), item.get("content")
        name = a_str(item.get("name")) or ("" if call_id in self._calls else _name_in(call_id))
        if call_id not in self._calls:
            if any(_same(call, content) for call in self._calls.values()):
                return  # google-adk numbers the results of a turn, and not as it numbers the calls
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
    """What a content is compared by, whether it stands as JSON in a string or as itself."""
    return blake2b(repr(arguments_of(content)).encode("utf-8", "backslashreplace"), digest_size=8).digest()


def _is_numbered(item: dict[str, Any]) -> bool:
    """Whether the ids are google-adk's, which it uses again: made of the tool's name and a number."""
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
