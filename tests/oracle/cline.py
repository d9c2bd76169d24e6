"""Counts sessions of Cline 3 with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def documents(path: Path) -> list[dict[str, Any]]:
    """The documents of messages in a file or below a folder."""
    files = sorted(path.rglob("*.messages.json")) if path.is_dir() else [path]
    return [json.loads(file.read_text("utf-8-sig")) for file in files]


def count(path: Path) -> dict[str, Any]:
    """What the sessions hold: calls and results, failures, words, and tokens by message."""
    uses, results, failed, text, thinking = [], [], [], [], []
    tokens: dict[str, dict[str, int]] = {"inputTokens": {}, "outputTokens": {}, "cacheReadTokens": {}}
    for document in documents(path):
        for message in document["messages"]:
            if message.get("metadata", {}).get("displayOnly"):
                continue
            for part in message["content"]:
                kind = part["type"]
                if kind == "tool_use":
                    uses.append(part["id"])
                elif kind == "tool_result":
                    results.append(part["tool_use_id"])
                    failed += [part["tool_use_id"]] if _has_failed(part["content"]) else []
                elif kind == "thinking":
                    thinking.append(part["thinking"])
                elif kind == "text" and message["role"] == "assistant":
                    text.append(part["text"])
            for name, counted in tokens.items():
                if "metrics" in message:
                    counted[message["id"]] = message["metrics"].get(name, 0)
    return {
        "tool_uses": uses,
        "tool_results": results,
        "failed_results": failed,
        "text": "".join(text),
        "thinking": "".join(thinking),
        "input_tokens": tokens["inputTokens"],
        "output_tokens": tokens["outputTokens"],
        "cached_tokens": tokens["cacheReadTokens"],
    }


def _has_failed(content: Any) -> bool:
    if isinstance(content, str):
        content = [json.loads(content)] if content.startswith("{") else []
    return any(answer.get("success") is False for answer in content)
