"""Messages of the GenAI semantic conventions, in the shape of Chat Completions.

Today's conventions have `gen_ai.input.messages` and `gen_ai.output.messages`: roles and parts, as JSON in a string or
as structured values. Before, every message was an event (of the span, or a log record) whose body is a chat message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts
from stenograph.model.codec import REFUSALS

GenAiMessage = dict[str, Any]
"""A message of Chat Completions."""
_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE = "gen_ai.choice"
_PROMPT, _COMPLETION = "gen_ai.content.prompt", "gen_ai.content.completion"
_THOUGHTS = ("thinking", "reasoning")


def parsed(value: Any) -> Any:
    """The object or array in a string of JSON, else the value as it is."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except (*REFUSALS, UnicodeEncodeError):
        return value


def messages_of(value: Any) -> list[GenAiMessage]:
    """`gen_ai.input.messages`: every message, results of tools as messages of their own."""
    return [item for message in dicts(parsed(value)) for item in _split(message)]


def choices_of(value: Any) -> list[dict[str, Any]]:
    """`gen_ai.output.messages` as choices of an answer."""
    return [
        {"message": _joined(message, dicts(message.get("parts"))), "finish_reason": message.get("finish_reason")}
        for message in dicts(parsed(value))
    ]


def instructions_of(value: Any) -> list[GenAiMessage]:
    """`gen_ai.system_instructions` as a system message; empty when there are none."""
    decoded = parsed(value)
    if isinstance(decoded, str):
        return [{"role": "system", "content": decoded}] if decoded else []
    texts = [a_str(part.get("content")) or a_str(part.get("text")) for part in dicts(decoded)]
    text = "\n".join(text for text in texts if text)
    return [{"role": "system", "content": text}] if text else []


def _split(message: dict[str, Any]) -> list[GenAiMessage]:
    """One message, after the tool results that it holds."""
    listed = message.get("parts")
    if not isinstance(listed, list):
        return [message] if "role" in message else []
    part = listed[0] if len(listed) == 1 else None
    if part.__class__ is dict and part.get("type") == "text" and part.get("content").__class__ is str:  # most messages
        return [{"role": message.get("role"), "content": part["content"]}]
    parts = dicts(listed)
    results = [_result(part) for part in parts if part.get("type") == "tool_call_response"]
    rest = [part for part in parts if part.get("type") != "tool_call_response"]
    return [*results, *([_joined(message, rest)] if rest or not results else [])]


def _result(part: dict[str, Any]) -> GenAiMessage:
    content = next((part[name] for name in ("response", "result", "content") if name in part), None)
    return {"role": "tool", "tool_call_id": part.get("id"), "name": a_str(part.get("name")), "content": content}


def _joined(message: dict[str, Any], parts: list[dict[str, Any]]) -> GenAiMessage:
    calls = [
        {"id": part.get("id"), "function": {"name": part.get("name"), "arguments": part.get("arguments")}}
        for part in parts
        if part.get("type") == "tool_call"
    ]
    content = [_content(part) for part in parts if part.get("type") != "tool_call"]
    if len(content) == 1 and content[0].get("type") == "text" and isinstance(content[0].get("text"), str):
        content = content[0]["text"]
    return {"role": message.get("role"), "content": content, **({"tool_calls": calls} if calls else {})}


def _content(part: dict[str, Any]) -> dict[str, Any]:
    kind, content = part.get("type"), part.get("content")
    if kind == "text" and isinstance(content, str):
        return {"type": "text", "text": content}
    if isinstance(kind, str) and kind in _THOUGHTS and isinstance(content, str):
        return {**part, "type": "thinking", "thinking": content}
    if kind == "blob" and isinstance(content, str):
        source = {"type": "base64", "media_type": part.get("mime_type"), "data": content}
        return {"type": a_str(part.get("modality")) or "blob", "source": source}
    return part


# Messages as events.


class Exchange:
    """A model's input and answer, collected from one event per message."""

    def __init__(self) -> None:
        self.messages: list[GenAiMessage] = []
        self.choices: list[dict[str, Any]] = []

    def take(self, name: str, attributes: dict[str, Any], body: Any = None) -> None:
        """Take one event: its name, and its content in the attributes or in the body."""
        facts = _body(attributes, body)
        if name == _PROMPT:
            self.messages += messages_of(attributes.get("gen_ai.prompt"))
        elif name == _COMPLETION:
            decoded = dicts(parsed(attributes.get("gen_ai.completion")))
            self.choices += [choice if "message" in choice else {"message": choice} for choice in decoded]
        elif name == _CHOICE:
            self.choices.append({**facts, "message": parsed(facts.get("message", facts))})
        elif name in _EVENT_ROLES:
            self.messages.append(_message(_EVENT_ROLES[name], facts))

    def take_list(self, value: Any) -> None:
        """Take the events that pydantic-ai once wrote into one attribute."""
        for item in dicts(parsed(value)):
            self.take(a_str(item.get("event.name")), {}, item)


def _body(attributes: dict[str, Any], body: Any) -> dict[str, Any]:
    decoded = parsed(body if body is not None else attributes.get("gen_ai.event.content"))
    return decoded if isinstance(decoded, dict) and decoded else attributes


def _message(role: str, facts: dict[str, Any]) -> GenAiMessage:
    message = {"role": a_str(facts.get("role")) or role, "content": parsed(facts.get("content"))}
    if calls := a_list(parsed(facts.get("tool_calls"))):
        message["tool_calls"] = calls
    if role == "tool":
        message |= {"role": "tool", "tool_call_id": facts.get("id"), "name": a_str(facts.get("name"))}
    return message


def exchange_of(events: Iterable[tuple[str, dict[str, Any], Any]], listed: Any) -> Exchange:
    """The exchange in events: names, attributes and bodies in order; `listed` is pydantic-ai's attribute."""
    found = Exchange()
    for name, attributes, body in events:
        found.take(name, attributes, body)
    if not found.messages and not found.choices and isinstance(listed, str):
        found.take_list(listed)
    return found


def definitions_in(attributes: dict[str, Any]) -> Any:
    """The definitions of tools that a model call came with."""
    decoded = parsed(attributes.get("gen_ai.tool.definitions"))
    if decoded:
        return decoded
    parameters = a_dict(parsed(attributes.get("model_request_parameters")))
    tools = dicts(parameters.get("function_tools"))
    return [{**tool, "parameters": tool.get("parameters_json_schema")} for tool in tools]
