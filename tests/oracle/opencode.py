"""Counts what OpenCode's rows hold, naively: `count` with nothing but `json`, `count_database` with nothing but SQL.

A tool part is a call unless it is pending, and a result when it is completed or failed. Tokens are taken from the
rows of messages, where the parser takes them from the steps.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any


def count(path: Path | str) -> dict[str, Any]:
    """What the rows in one file of lines hold, counted by hand."""
    messages: dict[str, dict[str, Any]] = {}
    uses: dict[str, None] = {}
    results: dict[str, None] = {}
    failed: dict[str, None] = {}
    said: dict[str, tuple[str, str]] = {}
    lines = 0

    for line in Path(path).read_bytes().split(b"\n"):
        if not line.strip():
            continue
        lines += 1
        row = json.loads(line)
        data = row.get("data")
        if row["table"] == "event":
            data = data.get("part") or data.get("info")
            table = row["type"].split(".")[-3]  # message.part.updated.1
            row = {"table": table, "id": data["id"], "message_id": data.get("messageID")}
        if row["table"] == "message":
            messages[row["id"]] = data
        if row["table"] != "part":
            continue
        message = messages.get(row["message_id"], {})
        role = row.get("role") or message.get("role")
        is_summary = row.get("summary") is True or message.get("summary") is True
        if data["type"] == "tool":
            status = data["state"]["status"]
            if status != "pending":
                uses.setdefault(data["callID"])
            if status in ("completed", "error"):
                results.setdefault(data["callID"])
            if status == "error":
                failed.setdefault(data["callID"])
        is_said = data["type"] == "reasoning" or (data["type"] == "text" and not is_summary)
        if is_said and data["text"] and role == "assistant":
            said.setdefault(row["id"], (data["type"], data["text"]))

    finished = {
        key: data["tokens"] for key, data in messages.items() if data["role"] == "assistant" and "finish" in data
    }
    return {
        "tool_uses": list(uses),
        "tool_results": list(results),
        "failed_results": list(failed),
        "text": "".join(text for kind, text in said.values() if kind == "text"),
        "thinking": "".join(text for kind, text in said.values() if kind == "reasoning"),
        "input_tokens": {key: tokens["input"] + sum(tokens["cache"].values()) for key, tokens in finished.items()},
        "output_tokens": {key: tokens["output"] + tokens["reasoning"] for key, tokens in finished.items()},
        "cached_tokens": {key: tokens["cache"]["read"] for key, tokens in finished.items()},
        "reasoning_tokens": {key: tokens["reasoning"] for key, tokens in finished.items()},
        "lines": lines,
    }


_TOOLS = """
SELECT json_extract(data, '$.callID') FROM part
WHERE json_extract(data, '$.type') = 'tool' AND json_extract(data, '$.state.status') IN ({}) ORDER BY 1
"""
_WORDS = """
SELECT json_extract(part.data, '$.text') FROM part JOIN message ON message.id = part.message_id
WHERE json_extract(part.data, '$.type') = ? AND json_extract(message.data, '$.role') = 'assistant'
AND (? = 'reasoning' OR json_extract(message.data, '$.summary') IS NOT 1) AND json_extract(part.data, '$.text') != ''
ORDER BY 1
"""
_SPEAKERS = """
SELECT DISTINCT message.id FROM message JOIN part ON message.id = part.message_id
WHERE json_extract(message.data, '$.role') = ? AND json_extract(part.data, '$.type') IN ('text', 'reasoning', 'tool')
"""
_TOKENS = """
SELECT id, {} FROM message
WHERE json_extract(data, '$.finish') IS NOT NULL
"""


def count_database(path: Path) -> dict[str, Any]:
    """What a whole database holds; lists are sorted."""
    connection = sqlite3.connect(path)
    try:

        def column(query: str, *values: str) -> list[str]:
            return [row[0] for row in connection.execute(query, values)]

        def tokens(kinds: str) -> dict[str, int]:
            sum_of_them = " + ".join(f"json_extract(data, '$.tokens.{kind}')" for kind in kinds.split(" + "))
            return dict(connection.execute(_TOKENS.format(sum_of_them)).fetchall())

        return {
            "tool_uses": column(_TOOLS.format("'running', 'completed', 'error'")),
            "tool_results": column(_TOOLS.format("'completed', 'error'")),
            "failed_results": column(_TOOLS.format("'error'")),
            "text": column(_WORDS, "text", "text"),
            "thinking": column(_WORDS, "reasoning", "reasoning"),
            "input_tokens": tokens("input + cache.read + cache.write"),
            "output_tokens": tokens("output + reasoning"),
            "cached_tokens": tokens("cache.read"),
            "reasoning_tokens": tokens("reasoning"),
            "messages": {role: len(column(_SPEAKERS, role)) for role in ("user", "assistant")},
        }
    finally:
        connection.close()
