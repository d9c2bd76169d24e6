"""Counts dumps of LangChain with nothing but `json`, on purpose naively. Knows nothing of stenograph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oracle.exchange_file import Counts, records


def count(path: Path) -> dict[str, Any]:
    """What one file holds, in any spelling."""
    counts = Counts()
    for record in records(path):
        for message in record.get("messages", [record]):
            fields = message.get("kwargs") or message.get("data") or message
            if fields["type"] == "ai":
                _answer(fields, counts)
            if fields["type"] == "tool":
                counts.results.append(fields["tool_call_id"])
                counts.failed += [fields["tool_call_id"]] if fields["status"] == "error" else []
    return counts.found()


def _answer(fields: dict[str, Any], counts: Counts) -> None:
    content = fields["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    counts.text += [part["text"] for part in parts if part["type"] == "text"]
    counts.thinking += [part["reasoning"] for part in parts if part["type"] == "reasoning"]
    counts.uses += [call["id"] for call in fields["tool_calls"] + fields["invalid_tool_calls"]]
    counts.inputs[fields["id"]] = fields["usage_metadata"]["input_tokens"]
    counts.outputs[fields["id"]] = fields["usage_metadata"]["output_tokens"]
