"""Counts a Claude Code session file with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
    for line in Path(path).read_bytes().split(b"\n"):
        if not line.strip():
            continue
        found["lines"] += 1
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            _count_record(record, found)
    return {**found, "text": _writable(found["text"]), "thinking": _writable(found["thinking"])}


def _writable(text: str) -> str:
    """Lone surrogates have no UTF-8; the wire format replaces them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _see(ids: list[str], call_id: Any) -> None:
    call_id = call_id if isinstance(call_id, str) else ""
    if call_id not in ids:
        ids.append(call_id)


def _count_record(record: dict[str, Any], found: dict[str, Any]) -> None:
    kind = record.get("type")
    if kind == "assistant":
        message = record.get("message")
        for block in _blocks(message if message is not None else record.get("content")):
            _count_block(block, found, spoken=True)
        if isinstance(message, dict):
            _count_tokens(record, message, found)
    elif kind == "user":
        message = record.get("message")
        for block in _blocks(message if message is not None else record.get("content")):
            _count_block(block, found, spoken=False)
    elif kind in ("tool_use", "tool_result", "thinking"):
        _count_block(record, found, spoken=True)
    elif kind == "progress" and isinstance(data := record.get("data"), dict) and data.get("type") == "agent_progress":
        inner = data.get("message")  # a record of the subagent's own
        if isinstance(inner, dict) and isinstance(inner.get("message"), dict):
            _count_record(inner, found)


def _blocks(message: Any) -> Iterator[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) and "type" not in message else message
    if isinstance(message, dict) and message.get("type") == "message":
        content = message.get("content")
    if isinstance(content, str):
        content = [content]
    for block in content if isinstance(content, list) else []:
        if isinstance(block, str):
            yield {"type": "text", "text": block}
        elif isinstance(block, dict):
            yield block


def _count_block(block: dict[str, Any], found: dict[str, Any], *, spoken: bool) -> None:
    kind = block.get("type")
    if kind == "text" and spoken:
        found["text"] += block.get("text") or ""
    elif kind == "thinking" and spoken:
        found["thinking"] += block.get("thinking") or ""
    elif kind == "tool_use":
        _see(found["tool_uses"], block.get("id") or block.get("tool_use_id"))
    elif kind == "tool_result":
        _see(found["tool_results"], block.get("tool_use_id"))
        if block.get("is_error") is True:
            _see(found["failed_results"], block.get("tool_use_id"))


def _count_tokens(record: dict[str, Any], message: dict[str, Any], found: dict[str, Any]) -> None:
    usage = message.get("usage")
    if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage") is True or not isinstance(usage, dict):
        return
    if isinstance(message.get("id"), str):
        found["output_tokens"][message["id"]] = usage.get("output_tokens") or 0
