"""Databases of Hermes Agent for tests, made of the rows of golden cases."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from golden_cases import FOLDER

_COLUMNS = {
    "sessions": "id PRIMARY KEY, source, user_id, model, model_config, system_prompt, parent_session_id, started_at, "
    "ended_at, end_reason, message_count, tool_call_count, input_tokens, output_tokens, cache_read_tokens, "
    "cache_write_tokens, reasoning_tokens, cwd, git_branch, billing_provider, billing_base_url, estimated_cost_usd, "
    "actual_cost_usd, cost_status, cost_source, title, api_call_count, compression_fallback_streak, rewind_count, "
    "archived, expiry_finalized",
    "messages": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id, role, content, tool_call_id, tool_calls, tool_name, "
    "timestamp, token_count, finish_reason, reasoning, reasoning_content, observed, active DEFAULT 1, "
    "compacted DEFAULT 0",
    "session_model_usage": "session_id, model, billing_provider, billing_base_url, billing_mode, task, api_call_count, "
    "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, estimated_cost_usd, "
    "actual_cost_usd, cost_status, cost_source, first_seen, last_seen",
    "async_delegations": "delegation_id, origin_session, origin_ui_session_id, parent_session_id, state, "
    "dispatched_at, completed_at, updated_at, event_json, result_json, delivery_state, delivery_attempts, owner_pid, "
    "owner_started_at, task_json",
    "messages_fts": "content",
    "schema_version": "version",
    "state_meta": "key, value",
}
"""The tables that make a database Hermes', and the columns that are read."""


def make_database(path: Path, *cases: str, without: tuple[str, ...] = ()) -> Path:
    """A database with the sessions of golden cases; `without` some tables, as older versions are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with change(path) as connection:
        for table, columns in _COLUMNS.items():
            if table not in without:
                connection.execute(f"CREATE TABLE {table} ({columns})")
        for case in cases:
            for line in (FOLDER / "hermes_agent" / case / "input.jsonl").read_text("utf-8").splitlines():
                row = json.loads(line)
                if row["table"] not in without:
                    _insert(connection, row)
    return path


def _insert(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    table = row.pop("table")
    if "grown" in row:
        names = ", ".join(f"{name} = ?" for name in row["grown"])
        connection.execute(f"UPDATE sessions SET {names} WHERE id = ?", [*row["grown"].values(), row["id"]])
        return
    row.pop("root_id", None)
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


class change:  # noqa: N801  # used as a function
    """A connection for one change, which is written at the end."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.commit()
        self._connection.close()
