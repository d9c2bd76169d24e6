"""Counts tasks of Cline with nothing but `json` and `re`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds: the tags that the case has, and the calls of functions."""
    counts = Counts()
    for message in records(path):
        for part in message["content"]:
            if part["type"] == "thinking":
                counts.thinking.append(part["thinking"])
            if part["type"] == "tool_use":
                counts.uses.append(part["id"])
            if part["type"] == "tool_result":
                counts.results.append(part["tool_use_id"])
                counts.failed += [part["tool_use_id"]] if part.get("is_error") else []
            if part["type"] == "text" and message["role"] == "assistant":
                words, name, _ = re.split(r"<(read_file|execute_command)>", part["text"])
                counts.text.append(words.strip())
                counts.uses.append(name)
            if part["type"] == "text" and (found := re.match(r"\[(\w+) for .*?\] Result:", part["text"])):
                counts.results.append(found[1])
    return counts.found()
