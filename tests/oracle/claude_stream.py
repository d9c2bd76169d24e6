"""Counts a `claude -p --output-format stream-json` file with nothing but `json`, on purpose naively.

Whole `assistant` and `user` lines are counted; of the partial ones only the final token counts of `message_delta`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What one file holds: ids of calls and results, texts, tokens by message, non-empty lines."""
    found: dict[str, Any] = {
        "tool_uses": [],
        "tool_results": [],
        "failed_results": [],
        "text": "",
        "thinking": "",
        "output_tokens": {},
        "lines": 0,
    }
    streamed: dict[Any, str] = {}
    for line in Path(path).read_bytes().split(b"\n"):
        if not line.strip():
            continue
        found["lines"] += 1
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            _count_record(record, found, streamed)
    return {**found, "text": _writable(found["text"]), "thinking": _writable(found["thinking"])}


def _writable(text: str) -> str:
    """Lone surrogates have no UTF-8; the wire format replaces them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _see(ids: list[str], call_id: Any) -> None:
    call_id = call_id if isinstance(call_id, str) else ""
    if call_id not in ids:
        ids.append(call_id)


def _count_record(record: dict[str, Any], found: dict[str, Any], streamed: dict[Any, str]) -> None:
    kind, message = record.get("type"), record.get("message")
    if kind in ("assistant", "user") and isinstance(message, dict):
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            _count_block(block, found, spoken=kind == "assistant")
        has_usage = message.get("model") != "<synthetic>" and isinstance(message.get("usage"), dict)
        if kind == "assistant" and has_usage and isinstance(message.get("id"), str):
            found["output_tokens"][message["id"]] = message["usage"].get("output_tokens") or 0
    elif kind == "stream_event":
        event, who = record.get("event") or {}, record.get("parent_tool_use_id")
        if event.get("type") == "message_start":
            streamed[who] = event["message"]["id"]
        elif event.get("type") == "message_delta" and who in streamed and "output_tokens" in event.get("usage", {}):
            found["output_tokens"][streamed[who]] = event["usage"]["output_tokens"]


def _count_block(block: dict[str, Any], found: dict[str, Any], *, spoken: bool) -> None:
    kind = block.get("type")
    if kind == "text" and spoken:
        found["text"] += block.get("text") or ""
    elif kind == "thinking" and spoken:
        found["thinking"] += block.get("thinking") or ""
    elif kind == "tool_use":
        _see(found["tool_uses"], block.get("id"))
    elif kind == "tool_result":
        _see(found["tool_results"], block.get("tool_use_id"))
        if block.get("is_error") is True:
            _see(found["failed_results"], block.get("tool_use_id"))
