"""Messages that are spread over attributes, one for each field: OpenInference, and OpenLLMetry before the conventions.

`llm.input_messages.0.message.tool_calls.1.tool_call.function.name` and `gen_ai.prompt.0.tool_calls.1.name` name a place
in a list of messages. Spans of a conversation repeat the same keys, so each key is parsed once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from stenograph.formats.otlp.genai import GenAiMessage, parsed
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str

INPUT, OUTPUT, TOOLS = "input", "output", "tools"
_SECTIONS = {
    "llm.input_messages.": INPUT,
    "llm.output_messages.": OUTPUT,
    "llm.tools.": TOOLS,
    "gen_ai.prompt.": INPUT,
    "gen_ai.completion.": OUTPUT,
    "llm.prompts.": INPUT,
    "llm.completions.": OUTPUT,
    "llm.request.functions.": TOOLS,
}
_WRAPPERS = {"message", "message_content", "tool_call", "tool"}
"""Keys of OpenInference that only wrap the items of a list."""
_FARTHEST = 100_000

Way = tuple[str, ...]


@lru_cache(maxsize=1 << 16)
def _place(key: str) -> tuple[str, int, Way] | None:
    """The section, the number and the path within the item that a key names."""
    for prefix, section in _SECTIONS.items():
        if key.startswith(prefix):
            number, _, rest = key[len(prefix) :].partition(".")
            if number.isdecimal() and len(number) < 6 and rest:
                return section, int(number), tuple(word for word in rest.split(".") if word not in _WRAPPERS)
    return None


def sections_of(attributes: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The items of every section in order, each with its fields; lists within them are objects with numbers as keys."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in attributes.items():
        place = _place(key)
        if place is None or not place[2]:
            continue
        section, number, way = place
        node = found.setdefault(section, {}).setdefault(number, {})
        for word in way[:-1]:
            inner = node.get(word)
            if not isinstance(inner, dict):
                inner = node[word] = {}
            node = inner
        node[way[-1]] = value
    return {section: [items[number] for number in sorted(items)] for section, items in found.items()}


def messages_of(items: list[dict[str, Any]]) -> list[GenAiMessage]:
    """Items of a section as messages of Chat Completions."""
    return [_message(item) for item in items]


def joined(items: list[dict[str, Any]]) -> GenAiMessage | None:
    """One answer that is spread over several items."""
    messages = messages_of(items)
    if len(messages) < 2:
        return messages[0] if messages else None
    content: list[Any] = []
    calls: list[Any] = []
    for message in messages:
        said = message.get("content")
        content += said if isinstance(said, list) else [{"type": "text", "text": said}] if said else []
        calls += message.get("tool_calls", [])
    return {**messages[0], "content": content, **({"tool_calls": calls} if calls else {})}


def _message(item: dict[str, Any]) -> GenAiMessage:
    message: GenAiMessage = {"role": item.get("role"), "content": _content(item)}
    calls = [_call(call) for call in _listed(item.get("tool_calls"))]
    if isinstance(item.get("function_call_name"), str):
        calls.append(
            {"function": {"name": item["function_call_name"], "arguments": item.get("function_call_arguments_json")}}
        )
    if calls:
        message["tool_calls"] = calls
    if item.get("role") in ("tool", "function") if isinstance(item.get("role"), str) else False:
        message |= {"tool_call_id": item.get("tool_call_id"), "name": a_str(item.get("name"))}
    return message


def _content(item: dict[str, Any]) -> Any:
    parts = [_part(part) for part in _listed(item.get("contents"))]
    if not parts:
        content = item.get("content")
        content = parsed(content) if isinstance(content, str) and content.startswith('[{"type"') else content
        return content if isinstance(content, str | list) else None
    if len(parts) == 1 and parts[0].get("type") == "text" and isinstance(parts[0].get("text"), str):
        return parts[0]["text"]
    return parts


def _part(part: dict[str, Any]) -> dict[str, Any]:
    url = a_dict(a_dict(part.get("image")).get("image")).get("url")
    if isinstance(url, str):
        return {"type": "image_url", "image_url": {"url": url}}
    if part.get("type") == "reasoning":
        return {**part, "type": "thinking", "thinking": a_str(part.get("text")) or a_str(part.get("reasoning"))}
    return part


def _call(call: dict[str, Any]) -> dict[str, Any]:
    inner = a_dict(call.get("function")) or call
    return {"id": call.get("id"), "function": {"name": inner.get("name"), "arguments": inner.get("arguments")}}


def _listed(value: Any) -> list[dict[str, Any]]:
    """The objects of a list whose places are keys, in order; missing numbers are skipped."""
    places = a_dict(value)
    numbers = sorted(int(key) for key in places if key.isdecimal() and len(key) < 6)
    return dicts([places[str(number)] for number in numbers if str(number) in places])


def definitions_of(items: list[dict[str, Any]]) -> list[Any]:
    """The definitions of tools in a section."""
    found = []
    for item in items:
        schema = parsed(item.get("json_schema"))
        found.append(schema if isinstance(schema, dict) else {**item, "parameters": parsed(item.get("parameters"))})
    return [each for each in found if first_str(each, "name") or a_dict(each.get("function"))]
