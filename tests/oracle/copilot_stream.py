"""Counts what `copilot --output-format json` printed, naively: the whole records as in a file, and pieces of messages
that never came whole."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

_SPEC = importlib.util.spec_from_file_location("oracle_copilot_file", Path(__file__).with_name("copilot_cli.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_FILE: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_FILE)


def count(path: Path) -> dict[str, Any]:
    """What one stream holds: ids of calls and results, texts, non-empty lines; it has no tokens."""
    lines = [line for line in Path(path).read_bytes().split(b"\n") if line.strip()]
    records = _FILE.records_of(lines)
    found = _FILE.count_records(records)
    whole = {record["data"].get("messageId") for record in records if record["type"] == "assistant.message"}
    thoughts = {record["data"]["reasoningId"] for record in records if record["type"] == "assistant.reasoning"}
    calls = dict.fromkeys(found["tool_uses"])
    for record in records:
        data = record["data"]
        if record["type"] == "assistant.message_delta" and data["messageId"] not in whole:
            found["text"] += data["deltaContent"]
        elif record["type"] == "assistant.reasoning_delta" and data["reasoningId"] not in thoughts:
            found["thinking"] += data["deltaContent"]
        elif record["type"] == "assistant.tool_call_delta":
            calls.setdefault(data["toolCallId"])
    return {**found, "tool_uses": list(calls), "lines": len(lines)}
