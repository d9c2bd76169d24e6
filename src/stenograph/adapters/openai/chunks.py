"""The chunks of a streamed chat answer as the message that they make."""

from __future__ import annotations

from typing import Any


def joined(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The message of the first choice: strings are joined, calls by their index, lists one after the other."""
    message: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) == 0:
                _add(message, calls, choice.get("delta") or {})
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return message


def _add(message: dict[str, Any], calls: dict[int, dict[str, Any]], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        if name == "tool_calls":
            for piece in value or ():
                _add_call(calls.setdefault(piece.get("index", len(calls)), {"type": "function"}), piece)
        elif name != "role" and isinstance(value, str) and isinstance(message.get(name), str):
            message[name] += value
        elif isinstance(value, list) and isinstance(message.get(name), list):
            message[name] = message[name] + value
        elif value is not None:
            message[name] = value


def _add_call(call: dict[str, Any], piece: dict[str, Any]) -> None:
    """The name comes once, the arguments piece by piece."""
    call["id"] = call.get("id") or piece.get("id")
    function = call.setdefault("function", {"name": "", "arguments": ""})
    for name, value in (piece.get("function") or {}).items():
        if isinstance(value, str):
            function[name] = value if name == "name" else function.get(name, "") + value
