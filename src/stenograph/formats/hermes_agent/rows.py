"""The rows of Hermes' database as lines of JSON: the name of the table and its columns, without those that are null.

A session's row is two lines: the columns that do not change, and, after its messages, those that do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from stenograph.formats.shared.collection import run_line
from stenograph.formats.shared.loose import column_value

GROWING = frozenset(
    {
        *("message_count", "tool_call_count", "api_call_count", "rewind_count", "title", "ended_at", "end_reason"),
        *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
        *("estimated_cost_usd", "actual_cost_usd", "cost_status", "cost_source", "pricing_version", "archived"),
        *("expiry_finalized", "handoff_state", "handoff_platform", "handoff_error"),
        *("compression_failure_cooldown_until", "compression_failure_error", "compression_fallback_streak"),
    }
)
"""Columns of a session that change while it runs."""


def rows_of(cursor: sqlite3.Cursor, table: str) -> Iterator[dict[str, Any]]:
    """The rows of a query, each with the name of its table."""
    names = [column[0] for column in cursor.description]
    for row in cursor:
        columns = {name: column_value(value) for name, value in zip(names, row, strict=True) if value is not None}
        yield {"table": table, **columns}


def head_line(session: dict[str, Any]) -> bytes:
    """The columns of a session's row that do not change."""
    return run_line({name: value for name, value in session.items() if name not in GROWING})


def growing_line(session: dict[str, Any]) -> bytes:
    """The columns of a session's row that change."""
    grown = {name: value for name, value in session.items() if name in GROWING}
    return run_line({"table": "sessions", "id": session["id"], "started_at": session.get("started_at"), "grown": grown})
