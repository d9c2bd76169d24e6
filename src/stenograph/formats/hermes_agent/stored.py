"""The sessions in Hermes' database, each with those of its subagents."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache
from typing import Any
from zlib import crc32

from stenograph.formats.hermes_agent.detection import session_identity, subagent_of
from stenograph.formats.hermes_agent.rows import growing_line, head_line, rows_of
from stenograph.formats.layout import Parent, State, StoredSession
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.collection import run_line
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts

_DELEGATING = "delegate_task"
_BITS = 21
"""The number of bits in a state's second number for each of three things that may have changed."""


def stored_sessions(connection: sqlite3.Connection) -> list[StoredSession]:
    """Every session of the database, the oldest run first, each followed by its subagents."""
    known = {a_str(row["id"]): row for row in _all(connection, "sessions", "ORDER BY started_at, id")}
    database = _Database(connection, known)
    found = [database.session(_with_root(row, known)) for row in known.values()]
    order = {each.identity.native_id: number for number, each in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda each: order[each.identity.native_id])


def has_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether the database has a session with this id."""
    return connection.execute("SELECT 1 FROM sessions WHERE id = ?", (session_id,)).fetchone() is not None


def _with_root(row: dict[str, Any], rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A subagent's row with its root session: the topmost known one."""
    root, seen = a_str(row["id"]), set()
    while root not in seen and root in rows and (parent := subagent_of(rows[root])) is not None:
        seen.add(root)
        root = parent
    return row if root == row["id"] else {**row, "root_id": root}


def _all(connection: sqlite3.Connection, table: str, more: str = "") -> Iterator[dict[str, Any]]:
    """The rows of a table; none if an older version does not have it."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone() is None:
        return iter(())
    return rows_of(connection.execute(f"SELECT * FROM {table} {more}"), table)


def _signs(*texts: bytes) -> tuple[int, ...]:
    """Texts as small numbers that change when a text changes."""
    return tuple(crc32(text) >> 32 - _BITS for text in texts)


def _packed(signs: tuple[int, ...]) -> int:
    flags, head, around = signs
    return flags << 2 * _BITS | head << _BITS | around


def _unpacked(number: int) -> tuple[int, int, int]:
    mask = (1 << _BITS) - 1
    return number >> 2 * _BITS, number >> _BITS & mask, number & mask


class _Database:
    """One view of the database."""

    def __init__(self, connection: sqlite3.Connection, sessions: dict[str, dict[str, Any]]) -> None:
        self._connection = connection
        self._sessions = sessions
        self._messages = self._last_messages()
        self._beside: dict[str, list[dict[str, Any]]] = {}
        """Rows about a session in other tables: tokens of its models, and its delegations."""
        for row in _all(connection, "session_model_usage", "ORDER BY session_id, first_seen, model, task"):
            self._beside.setdefault(a_str(row.get("session_id")), []).append(row)
        for row in _all(connection, "async_delegations", "ORDER BY dispatched_at, delegation_id"):
            self._beside.setdefault(a_str(row.get("parent_session_id")), []).append(row)
        self._spawned: dict[str, dict[str, str]] = {}

    def _last_messages(self) -> dict[str, tuple[int, int]]:
        """By session, the id of its last message, and a number that changes when a message is rewound or summarized."""
        columns = {name for _, name, *_ in self._connection.execute("PRAGMA table_info(messages)")}
        names = {name.decode() if isinstance(name, bytes) else name for name in columns}
        flags = [f"TOTAL(id * {name})" for name in ("active", "compacted") if name in names]
        query = f"SELECT session_id, MAX(id), {', '.join(flags) or '0'} FROM messages GROUP BY session_id"
        return {
            (session.decode() if isinstance(session, bytes) else session): (last, *_signs(repr(rest).encode()))
            for session, last, *rest in self._connection.execute(query)
        }

    def session(self, row: dict[str, Any]) -> StoredSession:
        session_id = a_str(row["id"])
        identity = session_identity(row)
        parent_id = subagent_of(row)
        last, flags = self._messages.get(session_id, (0, 0))
        beside = [run_line(each) for each in self._beside.get(session_id, ())]
        head, around = head_line(row), [*beside, growing_line(row)]
        signs = (flags, *_signs(head, b"".join(around)))

        def lines() -> Iterator[bytes]:
            yield head
            yield from self._lines(session_id, 0)
            yield from around

        def lines_since(before: State) -> list[bytes] | None:
            known = _unpacked(before[1])
            if known[0] != signs[0] or before[0] > last:
                return None
            return [
                *([head] if known[1] != signs[1] else []),
                *self._lines(session_id, before[0]),
                *(around if known[2] != signs[2] else []),
            ]

        @cache
        def parent() -> Parent:
            if parent_id is None:
                return None, None
            its_row = self._sessions.get(parent_id)
            source = None if its_row is None else session_identity(_with_root(its_row, self._sessions)).source
            return source, self._calls(parent_id).get(session_id)

        state = (last, _packed(signs))
        return StoredSession(identity=identity, state=state, parent=parent, lines=lines, lines_since=lines_since)

    def _lines(self, session_id: str, after: int) -> Iterator[bytes]:
        query = "SELECT * FROM messages WHERE session_id = ? AND id > ? ORDER BY id"
        for row in rows_of(self._connection.execute(query, (session_id, after)), "messages"):
            yield run_line(row)

    def _calls(self, parent_id: str) -> dict[str, str]:
        """The call that began each subagent of a session, matched by its task; equal tasks in their order."""
        if parent_id not in self._spawned:
            asked = self._asked(parent_id)
            found = self._spawned[parent_id] = {}
            for child in self._sessions.values():
                if subagent_of(child) == parent_id and (calls := asked.get(self._task(a_str(child["id"])))):
                    found[a_str(child["id"])] = calls.pop(0)
        return self._spawned[parent_id]

    def _asked(self, session_id: str) -> dict[str, list[str]]:
        query = "SELECT tool_calls FROM messages WHERE session_id = ? AND tool_calls LIKE ? ORDER BY id"
        found: dict[str, list[str]] = {}
        for (text,) in self._connection.execute(query, (session_id, f"%{_DELEGATING}%")):
            for call in dicts(arguments_of(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)):
                function = a_dict(call.get("function"))
                arguments = a_dict(arguments_of(function.get("arguments")))
                for task in (arguments, *a_list(arguments.get("tasks"))) if function.get("name") == _DELEGATING else ():
                    found.setdefault(a_str(a_dict(task).get("goal")), []).append(a_str(call.get("id")))
        return found

    def _task(self, session_id: str) -> str:
        query = "SELECT content FROM messages WHERE session_id = ? AND role = 'user' ORDER BY id LIMIT 1"
        row = self._connection.execute(query, (session_id,)).fetchone()
        text = None if row is None else row[0]
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else a_str(text)
