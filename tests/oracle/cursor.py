"""Counts Cursor's transcripts with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds; calls have no ids, so they go by their names and how often each came."""
    counts = Counts()
    seen: dict[str, int] = {}
    for line in records(path):
        for part in line["message"]["content"] if "message" in line else []:
            if part["type"] in ("tool_result", "tool-result"):
                counts.results.append(part.get("tool_use_id") or part["name"])
            if part["type"] == "thinking":
                counts.thinking.append(part["thinking"])
            if part["type"] == "text" and line["role"] == "assistant":
                counts.text.append(part["text"])
            if part["type"] in ("tool_use", "tool_call"):
                number = seen[part["name"]] = seen.get(part["name"], 0) + 1
                counts.uses.append(part["name"] if number == 1 else f"{part['name']}#{number}")
    return counts.found()
