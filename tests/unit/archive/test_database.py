"""OpenCode's database: its sessions are kept row by row, as they change."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from archive_cases import rows, synced, whole_index

GOLDEN = Path(__file__).parents[2] / "golden" / "opencode" / "text" / "input.jsonl"
TABLES = {
    "session": "id, project_id, parent_id, directory, title, version, agent, model, time_created, time_updated",
    "message": "id, session_id, time_created, time_updated, data",
    "part": "id, message_id, session_id, time_created, time_updated, data",
    "event": "id, aggregate_id, seq, type, data",
    "event_sequence": "aggregate_id, seq",
    "project": "id",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with the database of one golden session."""
    home = tmp_path / "home"
    path = database_path(home)
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
        for line in GOLDEN.read_bytes().splitlines():
            insert(connection, json.loads(line))
    return home


def database_path(home: Path) -> Path:
    """Where OpenCode keeps it."""
    return home / ".local" / "share" / "opencode" / "opencode.db"


def insert(connection: sqlite3.Connection, row: dict[str, Any]) -> None:
    """One row of a golden case."""
    columns = TABLES[row["table"]].split(", ")
    values = [json.dumps(row[name]) if isinstance(row.get(name), dict) else row.get(name) for name in columns]
    connection.execute(f"INSERT INTO {row['table']} VALUES ({', '.join('?' * len(values))})", values)


def test_a_session_is_kept_and_an_idle_database_is_left_alone(home: Path, tmp_path: Path) -> None:
    """The session is a run with its messages; the second sync reads nothing."""
    archive = tmp_path / "archive"
    assert synced(home, archive).new == 1
    assert rows(archive, "SELECT agent, turns FROM runs") == [("opencode", 1)]
    again = synced(home, archive)
    assert (again.new, again.grown, again.events, again.bytes_read) == (0, 0, 0, 0)


def test_only_changed_rows_are_added(home: Path, tmp_path: Path) -> None:
    """A row that changed is appended and nothing else is; a rebuild without the database gives the same index."""
    archive = tmp_path / "archive"
    synced(home, archive)
    with closing(sqlite3.connect(database_path(home), isolation_level=None)) as connection:
        connection.execute("UPDATE session SET title = 'another title', time_updated = time_updated + 1")
    summary = synced(home, archive)
    assert (summary.new, summary.grown) == (0, 1)
    assert summary.bytes_written < 2000
    before = whole_index(archive)
    database_path(home).unlink()
    synced(home, archive, rebuild=True)
    assert whole_index(archive) == before
