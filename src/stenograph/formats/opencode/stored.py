"""The sessions in OpenCode's database, each with those of its subagents."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import msgspec

from stenograph.formats.layout import Parent, State, StoredSession
from stenograph.formats.opencode.changes import changed_rows, last_changes, lines_of_rows
from stenograph.formats.opencode.detection import session_identity
from stenograph.formats.opencode.rows import row_line, session_lines
from stenograph.formats.shared.loose import column_value
from stenograph.model.codec import REFUSALS


def stored_sessions(connection: sqlite3.Connection, program: str | None = None) -> list[StoredSession]:
    """Every session of the database, the oldest run first, each followed by its subagents.

    `program` names the fork whose database it is: it is added to the rows, which do not name it.
    """
    known = _sessions(connection, {} if program is None else {"program": program})
    numbers = last_changes(connection)
    rows = [_with_root(row, known) for row in known.values()]
    found = [_session(connection, row, known, numbers.get(str(row["id"]))) for row in rows]
    order = {each.identity.native_id: number for number, each in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda each: order[each.identity.native_id])


def has_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether the database has a session with this id."""
    return connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is not None


def _sessions(connection: sqlite3.Connection, hints: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The rows of the table, by their ids."""
    cursor = connection.execute("SELECT * FROM session ORDER BY time_created, id")
    names = [column[0] for column in cursor.description]
    rows = [{name: column_value(value) for name, value in zip(names, row, strict=True)} for row in cursor]
    return {str(row["id"]): {"table": "session", **hints, **row} for row in rows}


def _with_root(row: dict[str, Any], rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A subagent's row with its root session: the topmost known one, even if it was deleted."""
    root, seen = str(row["id"]), set()
    while root not in seen and root in rows and rows[root].get("parent_id"):
        seen.add(root)
        root = str(rows[root]["parent_id"])
    return row if root == row["id"] else {**row, "root_id": root}


def _spawning_call(connection: sqlite3.Connection, parent_id: Any, session_id: str) -> str | None:
    """The call that began a session: a part of its parent names it."""
    query = "SELECT data FROM part WHERE session_id = ? AND data LIKE '%\"sessionId\"%' ORDER BY id"
    for (data,) in connection.execute(query, (parent_id,)):
        try:
            part = msgspec.json.decode(data, type=_Spawning)
        except REFUSALS:
            continue  # not a call that began a session
        if part.state.metadata.session_id == session_id:
            return part.call_id
    return None


class _Metadata(msgspec.Struct, frozen=True):
    session_id: str = msgspec.field(default="", name="sessionId")


class _State(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class _Spawning(msgspec.Struct, frozen=True):
    """The fields of a tool part that show that it began a session."""

    call_id: str = msgspec.field(default="", name="callID")
    state: _State = _State()


def _session(
    connection: sqlite3.Connection, row: dict[str, Any], rows: dict[str, dict[str, Any]], number: int | None
) -> StoredSession:
    session_id, parent_id, changed = str(row["id"]), row.get("parent_id"), row.get("time_updated")
    identity = session_identity(row)

    @cache
    def call_id() -> str | None:
        return None if identity.source == "main" else _spawning_call(connection, parent_id, session_id)

    def full_row() -> dict[str, Any]:
        return row if (call := call_id()) is None else {**row, "parent_call_id": call}

    def parent() -> Parent:
        its_row = rows.get(str(parent_id))
        if identity.source == "main" or its_row is None:
            return None, call_id()
        return session_identity(_with_root(its_row, rows)).source, call_id()

    def lines_since(state: State) -> list[bytes] | None:
        ids = None if number is None else changed_rows(connection, session_id, state[0], number)
        if ids is None:
            return None
        is_changed = session_id in ids or changed != state[1]
        return [*([row_line(full_row())] if is_changed else []), *lines_of_rows(connection, ids)]

    return StoredSession(
        identity=identity,
        state=None if number is None or not isinstance(changed, int) else (number, changed),
        parent=parent,
        lines=lambda: session_lines(connection, full_row()),
        lines_since=lines_since,
    )
