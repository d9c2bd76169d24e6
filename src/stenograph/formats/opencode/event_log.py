"""OpenCode's log of events: an append-only table with every version of every row."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from stenograph.formats.opencode.rows import json_of, row_line
from stenograph.formats.shared.loose import column_value

_EVENTS = "SELECT id, aggregate_id, seq, type, data FROM event WHERE aggregate_id = ? AND seq > ? ORDER BY seq"


class EventLog:
    """Continues to read the log from where it stopped; the cost is proportional to what is new.

    Fed to one parser, its lines give the events of a session as they happen.
    """

    def __init__(self, seen: Mapping[str, int] | None = None) -> None:
        self.seen = dict(seen or {})
        """The last number read, by session; another log can continue from it."""

    def read(self, connection: sqlite3.Connection) -> list[bytes]:
        """What was written since the last read, as lines of JSON, sessions in the order of time."""
        found: list[dict[str, Any]] = []
        for name, last in connection.execute("SELECT aggregate_id, seq FROM event_sequence").fetchall():
            session = str(column_value(name))
            seen = self.seen.get(session, -1)
            if last > seen:
                found += [_event(*row) for row in connection.execute(_EVENTS, (session, seen))]
        for row in found:
            self.seen[row["aggregate_id"]] = row["seq"]
        return [row_line(row) for row in sorted(found, key=lambda row: str(row["id"]))]


def _event(key: Any, session: Any, number: int, kind: Any, data: Any) -> dict[str, Any]:
    row = {
        "table": "event",
        "id": column_value(key),
        "aggregate_id": column_value(session),
        "seq": number,
        "type": column_value(kind),
    }
    return {**row, "data": json_of(data)}
