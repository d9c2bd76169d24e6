"""Counts what `codex exec --json` printed, naively: one pass, nothing but `json`, written from the facts of the format.

A tool item is a call when it is first seen and a result when it completes. Usage is the thread's total and names no
answer, so there are no tokens by answer to count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TOOLS = {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"}
_OLD_TOOLS = ("exec_command", "patch_apply", "mcp_tool_call", "web_search")


def count(path: Path | str) -> dict[str, Any]:
    """What one stream holds, counted by hand."""
    uses: list[str] = []
    results: list[str] = []
    failed: list[str] = []
    text: list[str] = []
    thinking: list[str] = []
    unnamed: dict[str, list[str]] = {}
    lines = 0

    for number, line in enumerate(Path(path).read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        lines += 1
        try:
            record = json.loads(line)
        except ValueError:
            continue
        item = record.get("item") or {}
        kind = item.get("type") or item.get("item_type")
        if kind in _TOOLS:
            call = item.get("id")
            if call is None and record["type"] == "item.completed" and unnamed.get(kind):
                call = unnamed[kind].pop(0)
            elif call is None:
                call = f"{kind}_{number}"
                if record["type"] == "item.started":
                    unnamed.setdefault(kind, []).append(call)
            uses.append(call)
            if record["type"] == "item.completed":
                results.append(call)
                if item.get("status") in ("failed", "declined") or item.get("error"):
                    failed.append(call)
        elif kind in ("agent_message", "assistant_message"):
            text.append(item["text"])
        elif kind == "reasoning":
            thinking.append(item["text"])

        message = record.get("msg") or {}  # 0.42
        kind = message.get("type") or ""
        if kind.startswith(_OLD_TOOLS) and kind.endswith(("_begin", "_end")):
            uses.append(message["call_id"])
            if kind.endswith("_end"):
                results.append(message["call_id"])
                result = message.get("result") or {}
                if "Err" in result or (result.get("Ok") or {}).get("isError") or message.get("success") is False:
                    failed.append(message["call_id"])
        elif kind == "agent_message" and not record["id"].startswith("auto-compact"):
            text.append(message["message"])
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            thinking.append(message["text"])

    return {
        "tool_uses": list(dict.fromkeys(uses)),
        "tool_results": list(dict.fromkeys(results)),
        "failed_results": list(dict.fromkeys(failed)),
        "text": "".join(text),
        "thinking": "".join(thinking),
        "output_tokens": {},
        "lines": lines,
    }
