"""Counts plain chats with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What the chats of a file hold, in the two habits that the cases have."""
    counts = Counts()
    for chat in records(path):
        for turn in chat.get("conversations", []):
            if turn["from"] == "gpt":
                counts.text.append(turn["value"])
            if turn["from"] == "function_call":
                counts.uses.append(json.loads(turn["value"])["name"])
            if turn["from"] == "observation":
                counts.results.append(counts.uses[-1])
        for turn in chat.get("history", []):
            if turn["sender"] == "AI":
                counts.text.append(turn["text"])
                counts.thinking.append(turn.get("reasoning_content", ""))
    return counts.found()
