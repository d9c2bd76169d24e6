"""Counts a `wire.jsonl` of kimi-cli with nothing but `json`, on purpose naively. Knows nothing of stenograph.

Everything within a `SubagentEvent` counts as well: a file by itself is all that there is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds."""
    counts = Counts()
    cached: dict[str, int] = {}
    steps: dict[str, str] = {}
    spoken: set[tuple[str, str]] = set()
    people = 0
    for record in records(path):
        if "message" not in record:
            continue
        message, who = record["message"], "main"
        while message["type"] == "SubagentEvent":
            who, message = message["payload"]["agent_id"], message["payload"]["event"]
        kind, payload = message["type"], message["payload"]
        people += kind == "TurnBegin"
        if kind == "StepBegin":
            steps[who] = f"step-{record['timestamp']!r}"
        elif kind == "ContentPart":
            counts.text.append(payload.get("text", ""))
            counts.thinking.append(payload.get("think", ""))
        elif kind == "ToolCall":
            counts.uses.append(payload["id"])
        elif kind == "ToolResult":
            counts.results.append(payload["tool_call_id"])
            counts.failed += [payload["tool_call_id"]] if payload["return_value"]["is_error"] else []
        elif kind == "StatusUpdate" and payload.get("token_usage"):
            usage, step = payload["token_usage"], steps[who]
            cached[step] = usage["input_cache_read"]
            counts.inputs[step] = usage["input_other"] + usage["input_cache_read"] + usage["input_cache_creation"]
            counts.outputs[step] = usage["output"]
        if kind in ("ContentPart", "ToolCall"):
            spoken.add((who, steps[who]))
    told = counts.found()
    return told | {"cached_tokens": cached, "messages": {"user": people, "assistant": len(spoken)}}
