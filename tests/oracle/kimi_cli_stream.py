"""Counts what Kimi's programs print with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds; a result that begins with `<system>ERROR` has failed."""
    counts = Counts()
    answers = 0
    for line in records(path):
        content = line.get("content") or ""
        parts = content if isinstance(content, list) else [{"text": content}]
        if line["role"] == "assistant":
            answers += 1
            counts.text += [part.get("text", "") for part in parts]
            counts.thinking += [part.get("think", "") for part in parts]
            counts.uses += [call["id"] for call in line.get("tool_calls", [])]
        elif line["role"] == "tool":
            counts.results.append(line["tool_call_id"])
            is_error = parts[0]["text"].startswith("<system>ERROR")
            counts.failed += [line["tool_call_id"]] if is_error else []
    return counts.found() | {"messages": {"user": 0, "assistant": answers}}
