"""The dialect of Chat Completions, as OpenAI, LiteLLM and the many compatible servers speak it."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.chat_stream import ChatStreams
from stenograph.formats.shared.model_api.dialect import Dialect
from stenograph.formats.shared.model_api.history import Mark, mark
from stenograph.formats.shared.model_api.media import attachment
from stenograph.formats.shared.model_api.parts import blocks_of, plain_text, thinking_block, thought_block
from stenograph.formats.shared.model_api.turn import Turn
from stenograph.formats.shared.model_api.usage import openai_usage
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, TextBlock

SYSTEM_ROLES = ("system", "developer")
_TOOL_FIELDS = {"tool_calls", "function_call", "tool_call_id", "name"}
_CALL_TYPES = ("tool_call", "function_call")
_RESULT_TYPES = ("tool_result", "function_result", "function_call_output")


class Chat(Dialect):
    """Chat Completions."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._streams = ChatStreams(self._emit_choice, self._emit_usage)

    def request(self, body: dict[str, Any]) -> None:
        """Emit the new messages of a request, or of one line of a dataset."""
        listed = body.get("messages")
        if listed is None:
            listed = a_dict(body.get("input")).get("messages")  # a preference dataset
        messages = dicts(listed)
        start = next((at for at, item in enumerate(messages) if item.get("role") not in SYSTEM_ROLES), len(messages))
        system = "\n".join(plain_text(item.get("content")) for item in messages[:start])
        self._converse(messages[start:], system or None)
        self._define(body.get("tools") or body.get("functions") or a_dict(body.get("input")).get("tools"))
        self._say(dicts(body.get("preferred_output")), None)
        for item in dicts(body.get("non_preferred_output")):
            self._emit_alternative({"message": item})

    def response(self, body: dict[str, Any]) -> None:
        """Emit an answer: its first choice is the message, the others are alternatives."""
        choices = dicts(body.get("choices"))
        messages = [_message_of(choice) for choice in choices]
        marks = [self._mark(message) for message in messages]
        answer_id = first_str(body, "id")
        if choices and self._was_emitted(answer_id, marks[:1]):
            self._note("repeated", data={"id": answer_id})
        else:
            for number, choice in enumerate(choices):
                self._emit_choice(body, choice, number)
        if not choices:
            if body.get("error"):
                self.error(body)
            else:
                self._note("empty_response")
        self._emit_usage(body)

    def bare(self, record: dict[str, Any]) -> bool:
        """Take a request, an answer, a chunk, an error or a single message."""
        if "messages" in record or "preferred_output" in record:
            self.request(record)
        elif _is_chunk(record):
            self._streams.take(record)
        elif isinstance(record.get("choices"), list):
            self.response(record)
        elif isinstance(record.get("role"), str):
            self._say([record], None)
        elif record.get("error") or (record.get("type") == "error"):
            self.flush()
            self.error(record)
        else:
            return self._odd_line(record)
        return True

    def flush(self) -> None:
        """Emit the streams that ended without a finish reason."""
        self._streams.flush()

    def _odd_line(self, record: dict[str, Any]) -> bool:
        """Calls and results on lines of their own, as some logs of chats have them."""
        if record.get("type") in _CALL_TYPES:
            turn = Turn()
            self._add_call(turn, record)
            turn.emit_message(self._emit, "assistant")
        elif record.get("type") in _RESULT_TYPES:
            self._emit_result(record)
        else:
            return False
        return True

    # Messages.

    def _mark(self, item: dict[str, Any]) -> Mark:
        words = said(item.get("content")) or a_str(item.get("refusal")).strip()
        if _TOOL_FIELDS.isdisjoint(item):  # most messages, and every request repeats them
            return mark(item.get("role"), words)
        calls = [
            call.get("id") or (_name_of(call), repr(arguments_of(_input_of(call))))
            for call in dicts(item.get("tool_calls"))
        ]
        old = a_dict(item.get("function_call"))
        result = item.get("tool_call_id")
        more = (calls, (old.get("name"), old.get("arguments")) if old else None, result or item.get("name"))
        return mark(
            item.get("role"),
            words,
            *(more if any(more) else ()),
            has_ids=bool(calls or result),
            answers=a_str(result),
        )

    def _say(self, items: list[dict[str, Any]], system: str | None) -> None:
        for item in items:
            role = item.get("role")
            content = item["content"] if "content" in item else item.get("message")
            if role == "user":
                turn = Turn()
                turn.blocks += blocks_of(content)
                self._emit_user(turn, system)
                system = None
            elif role in ("assistant", "model"):
                self._emit_answer(item, first_str(item, "model", "model_id"), first_str(item, "message_id", "id"), None)
                self._count(openai_usage(item.get("usage"), first_str(item, "model"), first_str(item, "id")))
            elif role in ("tool", "function"):
                self._emit_result(item)
            elif role in SYSTEM_ROLES:
                # A separate line has no user message that it could go with.
                self._note(f"{role}_message", plain_text(content))
            else:
                self._unknown(item, role)

    def _emit_choice(self, body: dict[str, Any], choice: dict[str, Any], number: int) -> None:
        message = _message_of(choice)
        answer_id = first_str(body, "id")
        if number:
            self._emit_alternative(choice)
            return
        stop = first_str(choice, "finish_reason")
        self._emit_answer(message, first_str(body, "model"), answer_id, stop)
        self._remember(answer_id, [self._mark(message)])

    def _emit_answer(self, message: dict[str, Any], model: str | None, id: str | None, stop: str | None) -> None:
        turn = self._turn_of(message)
        if message.get("refusal"):
            stop = "refusal"
        turn.emit_message(self._emit, "assistant", model=model, message_id=id, stop_reason=stop)

    def _emit_alternative(self, choice: dict[str, Any]) -> None:
        turn = self._turn_of(_message_of(choice))
        text = "\n".join(block.text for block in turn.blocks if isinstance(block, TextBlock))
        self._note("alternative", text or None, choice)

    def _emit_usage(self, body: dict[str, Any]) -> None:
        tier = first_str(body, "service_tier")
        self._count(openai_usage(body.get("usage"), first_str(body, "model"), first_str(body, "id"), tier))

    def _turn_of(self, message: dict[str, Any]) -> Turn:
        turn = Turn()
        turn.blocks += thoughts_of(message)
        content = message["content"] if "content" in message else message.get("message")
        turn.blocks += blocks_of(content)
        turn.say(a_str(message.get("refusal")))
        sound = a_dict(message.get("audio"))
        if sound:
            turn.say(a_str(sound.get("transcript")))
            turn.blocks.append(attachment("audio", sound.get("data")) or verbatim({"type": "audio", **sound}))
        turn.blocks += blocks_of(a_list(message.get("images")))
        for call in dicts(message.get("tool_calls")):
            self._add_call(turn, call)
        if isinstance(message.get("function_call"), dict):
            self._add_call(turn, message["function_call"])
        return turn

    def _add_call(self, turn: Turn, call: dict[str, Any]) -> None:
        name = _name_of(call)
        call_id = self._call_id(first_str(call, "id", "call_id"), name)
        turn.call(call_id, name, arguments_of(_input_of(call)), kind="custom" if "custom" in call else None)
        if "output" in call:  # logs that keep a call and its result together
            turn.result(self._answered_id(call_id, name), call["output"], name=name)

    def _emit_result(self, item: dict[str, Any]) -> None:
        turn = Turn()
        name = a_str(item.get("name"))
        content = next((item[key] for key in ("content", "result", "output") if key in item), None)
        turn.result(self._answered_id(first_str(item, "tool_call_id", "call_id"), name), content, name=name)
        turn.emit_tools(self._emit)


def _is_chunk(record: dict[str, Any]) -> bool:
    if record.get("object") == "chat.completion.chunk":
        return True
    choices = dicts(record.get("choices"))
    return any("delta" in choice and "message" not in choice for choice in choices)


def _message_of(choice: dict[str, Any]) -> dict[str, Any]:
    if "message" not in choice and "text" in choice:  # old text completions
        return {"role": "assistant", "content": choice["text"]}
    return {"role": "assistant", **a_dict(choice.get("message"))}


def _name_of(call: dict[str, Any]) -> str:
    inner = a_dict(call.get("function")) or a_dict(call.get("custom"))
    return first_str(inner, "name") or first_str(call, "name", "tool") or ""


def _input_of(call: dict[str, Any]) -> Any:
    for holder in (a_dict(call.get("function")), a_dict(call.get("custom")), call):
        for name in ("arguments", "input"):
            if name in holder:
                return holder[name]
    return None


def thoughts_of(message: dict[str, Any]) -> list[Block]:
    """The reasoning beside a message's content: servers have four names for it, and some send two of them."""
    parts = dicts(message.get("thinking_blocks")) or dicts(message.get("reasoning_details"))
    found = [block for part in parts if (block := thought_block(part)) is not None]
    text = first_str(message, "reasoning_content", "reasoning")
    if text and not any(block.thinking for block in found):
        return [thinking_block(text), *found]
    return [*found]


def said(content: Any) -> Any:
    """What a content says, without its shape and cache markers: for marks."""
    if isinstance(content, str):
        return content.strip()
    facts: list[Any] = []
    for part in a_list(content):
        if isinstance(part, dict):
            text = first_str(part, "text")
            facts.append(text.strip() if text else {name: part[name] for name in sorted(part) if name not in _IGNORED})
        else:
            facts.append(part)
    if all(isinstance(fact, str) for fact in facts):
        return "".join(facts)
    return facts


_IGNORED = ("cache_control", "citations", "annotations", "logprobs")
