"""Counts conversations of claude.ai with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What the branch that ends with the last message holds."""
    counts = Counts()
    for conversation in records(path):
        messages = {message["uuid"]: message for message in conversation["chat_messages"]}
        message, branch = conversation["chat_messages"][-1], []
        while message:
            branch.insert(0, message)
            message = messages.get(message.get("parent_message_uuid"))
        if not any("parent_message_uuid" in each for each in messages.values()):
            branch = conversation["chat_messages"]
        for part in (part for each in branch if each["sender"] == "assistant" for part in _parts(each)):
            if part["type"] == "text":
                counts.text.append(part["text"])
            elif part["type"] == "thinking":
                counts.thinking.append(part["thinking"])
            elif part["type"] == "tool_use":
                counts.uses.append(part["id"])
            elif part["type"] == "tool_result":
                counts.results.append(part["tool_use_id"])
                counts.failed += [part["tool_use_id"]] if part["is_error"] else []
    return counts.found()


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    known = ("text", "thinking", "tool_use", "tool_result")
    parts = message.get("content") or [{"type": "text", "text": message["text"]}]
    return [part for part in parts if part["type"] in known]
