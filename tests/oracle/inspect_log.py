"""Counts logs of Inspect with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds, by the list of messages for words and by the model events for tokens."""
    counts = Counts()
    for log in records(path):
        for sample in log["samples"]:
            for message in sample["messages"]:
                _message(message, counts)
            for event in sample["events"]:
                usage = event.get("output", {}).get("usage") if event["event"] == "model" else None
                if usage:
                    key = event["output"]["choices"][0]["message"]["id"]
                    cached = usage.get("input_tokens_cache_read", 0) + usage.get("input_tokens_cache_write", 0)
                    counts.inputs[key] = usage["input_tokens"] + cached
                    counts.outputs[key] = usage["output_tokens"]
    return counts.found()


def _message(message: dict[str, Any], counts: Counts) -> None:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if message["role"] == "assistant":
        counts.text += [part["text"] for part in parts if part["type"] == "text"]
        counts.thinking += [part["reasoning"] for part in parts if part["type"] == "reasoning"]
        counts.uses += [call["id"] for call in message.get("tool_calls") or []]
    if message["role"] == "tool":
        counts.results.append(message["tool_call_id"])
        counts.failed += [message["tool_call_id"]] if message.get("error") else []
