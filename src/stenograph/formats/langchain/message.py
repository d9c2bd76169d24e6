"""A message of LangChain in any of its three spellings, as its fields."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts

_KINDS = {
    "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant",
    "system": "system", "SystemMessage": "system", "SystemMessageChunk": "system", "developer": "system",
    "tool": "tool", "ToolMessage": "tool", "ToolMessageChunk": "tool",
    "function": "tool", "FunctionMessage": "tool", "FunctionMessageChunk": "tool",
    "chat": "chat", "ChatMessage": "chat", "ChatMessageChunk": "chat",
    "remove": "remove", "RemoveMessage": "remove",
}  # fmt: skip


def fields_of(record: Any) -> tuple[str, dict[str, Any]]:
    """The role and the fields of a message; an empty role for anything else.

    The spellings: `messages_to_dict` (`type`, `data`), `dumpd` (`lc`, `id`, `kwargs`), `model_dump` (the fields).
    """
    message = a_dict(record)
    kind: Any = message.get("type")
    fields = message
    if message.get("lc") == 1 and kind == "constructor":
        kind, fields = (a_list(message.get("id")) or [""])[-1], a_dict(message.get("kwargs"))
    elif isinstance(message.get("data"), dict):
        fields = message["data"]
    elif "additional_kwargs" not in message and "response_metadata" not in message:
        return "", {}
    role = _KINDS.get(kind, "") if isinstance(kind, str) else ""
    return (role, fields) if role and "content" in fields else ("", {})


def messages_in(record: Any) -> list[Any]:
    """The messages of a state (`messages`, also inside `values`, `input`, `output`); none for anything else."""
    state = a_dict(record)
    for holder in (state, *(a_dict(state.get(name)) for name in ("values", "kwargs", "output", "input"))):
        messages = a_list(holder.get("messages"))
        if messages and isinstance(messages[0], list):  # a batch of prompts, as callbacks have it
            messages = messages[0]
        if messages and all(fields_of(each)[0] for each in messages):
            return messages
    return []


def model_of(fields: dict[str, Any]) -> str | None:
    """The model of an answer, under any of the field names that providers use."""
    metadata = a_dict(fields.get("response_metadata"))
    names = ("model_name", "model", "model_id", "ls_model_name")
    return next((text for name in names if (text := a_str(metadata.get(name)))), None)


def calls_of(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls of an answer, also those whose arguments could not be read."""
    return [*dicts(fields.get("tool_calls")), *dicts(fields.get("invalid_tool_calls"))]
