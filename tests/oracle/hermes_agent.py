"""Counts rows of Hermes Agent, in lines and in its database, with nothing but `json` and SQL, on purpose naively."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any


def count(path: Path) -> dict[str, Any]:
    """What the rows of one session, or a session of old, hold."""
    values = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    if "messages" in values[0]:
        values = [{"table": "messages", **each} for each in values[0]["messages"]]
    return _count(values)


def count_database(path: Path) -> dict[str, Any]:
    """What all sessions of a database hold."""
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    try:
        values: list[dict[str, Any]] = []
        for table in ("messages", "session_model_usage"):
            values += [{"table": table, **dict(row)} for row in connection.execute(f"SELECT * FROM {table}")]
        return _count(values)
    finally:
        connection.close()


def _count(values: list[dict[str, Any]]) -> dict[str, Any]:
    uses, results, failed, text, thinking = [], [], [], [], []
    tokens: dict[str, dict[str, int]] = {"input_tokens": {}, "output_tokens": {}, "cached_tokens": {}}
    for row in values:
        if row["table"] == "session_model_usage":
            name = "/".join(row[key] for key in ("session_id", "model", "task", "billing_provider") if row[key])
            tokens["input_tokens"][name] = row["input_tokens"] + row["cache_read_tokens"] + row["cache_write_tokens"]
            tokens["output_tokens"][name] = row["output_tokens"]
            tokens["cached_tokens"][name] = row["cache_read_tokens"]
        if row["table"] != "messages":
            continue
        if row["role"] == "assistant":
            text.append(row.get("content") or "")
            thinking.append(row.get("reasoning") or "")
            calls = row.get("tool_calls") or []
            uses += [call["id"] for call in (json.loads(calls) if isinstance(calls, str) else calls)]
        if row["role"] == "tool":
            results.append(row["tool_call_id"])
            told = json.loads(row["content"]) if row["content"].startswith("{") else {}
            failed += [row["tool_call_id"]] if told.get("error") else []
    return {
        "tool_uses": uses,
        "tool_results": results,
        "failed_results": failed,
        "text": "".join(text),
        "thinking": "".join(thinking),
        **(tokens if tokens["input_tokens"] else {}),
    }
