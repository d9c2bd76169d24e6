"""A record as one of three things: a session, a message or a part, in each way they are written.

Rows of the tables `session`, `message` and `part` come as they are, with the table's name. The append-only table
`event` holds the same things as they were at each change; what `opencode export` writes is in `export.py`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stenograph.formats.shared.loose import a_dict, a_str

TABLES = ("session", "message", "part")
_EVENTS = {
    "session.created": ("session", "info"),
    "session.updated": ("session", "info"),
    "message.updated": ("message", "info"),
    "message.part.updated": ("part", "part"),
}


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One version of one row."""

    table: str
    id: str
    session_id: str
    message_id: str = ""
    data: dict[str, Any]
    created: Any = None
    """When it was written first."""
    hints: dict[str, Any] = {}
    """What the reader knows about the row beyond its columns: a part's role and model, a session's root and call."""


def rows_of(record: dict[str, Any]) -> list[Row]:
    """The rows in a record; none when it is not one of ours."""
    table, data = record.get("table"), record.get("data")
    if table in ("message", "part") and isinstance(data, dict):
        return [_row(record, str(table), data)]
    if table == "session":
        return [_session(record, record)]
    if table == "event" and isinstance(data, dict):
        return _event(record, data)
    return []


def _row(record: dict[str, Any], table: str, data: dict[str, Any]) -> Row:
    return Row(
        table=table,
        id=a_str(record.get("id")),
        session_id=a_str(record.get("session_id")),
        message_id=a_str(record.get("message_id")),
        data=data,
        created=record.get("time_created"),
        hints=record,
    )


def _event(record: dict[str, Any], data: dict[str, Any]) -> list[Row]:
    kind = a_str(record.get("type")).rpartition(".")[0]  # a version follows the name
    table, key = _EVENTS.get(kind, ("", ""))
    inner = data.get(key)
    return [nested(table, inner, data.get("time"))] if isinstance(inner, dict) else []


def nested(table: str, inner: dict[str, Any], time: Any) -> Row:
    """A thing that has its ids inside, as events and exports write it."""
    if table == "session":
        return _session(inner, {})
    times = a_dict(inner.get("time"))
    return Row(
        table=table,
        id=a_str(inner.get("id")),
        session_id=a_str(inner.get("sessionID")),
        message_id=a_str(inner.get("messageID")),
        data=inner,
        created=time or times.get("created"),
    )


def _session(record: dict[str, Any], hints: dict[str, Any]) -> Row:
    """A session: the names of its columns, or the names of its JSON."""
    times = a_dict(record.get("time"))
    session_id = a_str(record.get("id"))
    return Row(
        table="session",
        id=session_id,
        session_id=session_id,
        data=record,
        created=record.get("time_created") or times.get("created"),
        hints=hints,
    )


def hints_of(message: dict[str, Any]) -> dict[str, Any]:
    """What a part needs to know about its message: role, model, whether it is a summary."""
    return {
        "role": message.get("role"),
        "model": message.get("modelID"),
        "summary": message.get("summary") is True,
    }
