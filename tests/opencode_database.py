"""Databases in the way of OpenCode, with the rows of golden cases."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

_TABLES = {
    "session": "id, project_id, parent_id, directory, title, version, agent, model, time_created, time_updated",
    "message": "id, session_id, time_created, time_updated, data",
    "part": "id, message_id, session_id, time_created, time_updated, data",
    "event": "id, aggregate_id, seq, type, data",
    "event_sequence": "aggregate_id, seq",
    "project": "id",
}


def create_tables(connection: sqlite3.Connection) -> None:
    """The tables, empty."""
    for name, columns in _TABLES.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")


def insert(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    """One row of a golden case."""
    columns = _TABLES[row["table"]].split(", ")
    values = [json.dumps(row[name]) if isinstance(row.get(name), dict) else row.get(name) for name in columns]
    connection.execute(f"INSERT INTO {row['table']} VALUES ({', '.join('?' * len(values))})", values)
