"""What changed in OpenCode's database: it notes every change of a row, in order, by session."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

import msgspec

from stenograph.formats.opencode.rows import hints_of, message_line, part_line
from stenograph.formats.shared.loose import column_value
from stenograph.model.codec import REFUSALS

_CHANGES = "SELECT data FROM event WHERE aggregate_id = ? AND seq > ? AND seq <= ?"
_MESSAGE = "SELECT id, session_id, time_created, time_updated, data FROM message WHERE id = ?"
_PART = """
SELECT part.id, part.message_id, part.session_id, part.time_created, part.time_updated, part.data,
  message.time_created, message.data
FROM part LEFT JOIN message ON message.id = part.message_id WHERE part.id = ?
"""
_LAST = 1 << 63
_Placed = tuple[tuple[Any, ...], bytes]


class _Row(msgspec.Struct, frozen=True):
    id: str = ""


class _Change(msgspec.Struct, frozen=True):
    """The fields of a change that name its row: a session or a message (`info`), or a part."""

    info: _Row = _Row()
    part: _Row = _Row()


_decode = msgspec.json.Decoder(_Change).decode


def last_changes(connection: sqlite3.Connection) -> dict[str, int]:
    """The number of each session's last change; empty when the database does not count changes."""
    try:
        rows = connection.execute("SELECT aggregate_id, seq FROM event_sequence").fetchall()
    except sqlite3.OperationalError:  # no such table
        return {}
    return {str(column_value(session)): number for session, number in rows if isinstance(number, int)}


def changed_rows(connection: sqlite3.Connection, session_id: str, after: int, last: int) -> set[str] | None:
    """The ids of the rows that changed after one change up to another; None when some changes were deleted."""
    ids = set()
    changes = connection.execute(_CHANGES, (session_id, after, last)).fetchall()
    if len(changes) != last - after:
        return None
    for (data,) in changes:
        try:
            change = _decode(data)
        except (*REFUSALS, TypeError):
            return None
        ids |= {change.info.id, change.part.id}
    return ids


def lines_of_rows(connection: sqlite3.Connection, ids: Iterable[str]) -> list[bytes]:
    """The messages and parts among these rows as they are now, in the order of a session's lines."""
    found = [each for key in ids for each in (*_message(connection, key), *_part(connection, key))]
    return [line for _, line in sorted(found, key=itemgetter(0))]


def _message(connection: sqlite3.Connection, key: str) -> Iterator[_Placed]:
    for row in connection.execute(_MESSAGE, (key,)):
        yield (_time(row[2]), str(row[0]), 1), message_line(row)


def _part(connection: sqlite3.Connection, key: str) -> Iterator[_Placed]:
    for *row, made, data in connection.execute(_PART, (key,)):
        place = (_time(made), str(row[1]), 0, str(row[0]))
        yield place, part_line(tuple(row), {} if made is None else hints_of(data))


def _time(value: Any) -> int:
    """The sort key of rows; parts without a message come last."""
    return value if isinstance(value, int) else _LAST
