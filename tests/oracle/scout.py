"""Counts rows of a Scout database with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds, by its messages."""
    counts = Counts()
    for row in records(path):
        for message in row["messages"]:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if message["role"] == "assistant":
                counts.text += [part["text"] for part in parts if part["type"] == "text"]
                counts.thinking += [part["reasoning"] for part in parts if part["type"] == "reasoning"]
                counts.uses += [call["id"] for call in message.get("tool_calls") or []]
            if message["role"] == "tool":
                counts.results.append(message["tool_call_id"])
                counts.failed += [message["tool_call_id"]] if message.get("error") else []
    return counts.found()
