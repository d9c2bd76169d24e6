"""Counts a recording of the Agent Client Protocol, naively: nothing but `json`, written from the facts of the protocol.

A call is counted when it is first named, by an update or by a request for permission, and a result when an update says
that it completed or failed. Text is what the chunks say, but for the notes that Copilot and Gemini send as such.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, non-empty lines; usage names no answer."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    messages = [message for line in lines if (message := _message(line)) is not None]
    updates = [message["params"]["update"] for message in messages if message.get("method") == "session/update"]
    ended = [each for each in updates if each.get("status") in ("completed", "failed")]
    return {
        "tool_uses": _calls(messages),
        "tool_results": list(dict.fromkeys(each["toolCallId"] for each in ended)),
        "failed_results": list(dict.fromkeys(each["toolCallId"] for each in ended if each["status"] == "failed")),
        "text": "".join(text for text in _chunks(updates, "agent_message_chunk") if not _is_note(text, lines)),
        "thinking": "".join(_chunks(updates, "agent_thought_chunk")),
        "output_tokens": {},
        "lines": len(lines),
    }


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
        inner = record.get("msg", record.get("line", record))
        return json.loads(inner) if isinstance(inner, str) else inner
    except (ValueError, AttributeError):
        return None


def _calls(messages: list[dict[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for message in messages:
        params = message.get("params") or {}
        named = params.get("update") or params.get("toolCall") or {}
        if "toolCallId" in named:
            found.setdefault(named["toolCallId"])
    return list(found)


def _chunks(updates: list[dict[str, Any]], kind: str) -> list[str]:
    return [each["content"]["text"] for each in updates if each.get("sessionUpdate") == kind]


def _is_note(text: str, lines: list[bytes]) -> bool:
    head = b"".join(lines[:3])
    if b"gemini-cli" in head:
        return re.fullmatch(r"\[MODE_UPDATE\] \w+", text) is not None
    return b"Copilot" in head and text.startswith(("Info: ", "Warning: ", "Error: "))
