"""The rows of OpenCode's database as lines of JSON: the name of the table, its columns, and `data` unchanged.

A session is read message by message in the order of creation: each part with what it needs to know about its message,
then the message itself, whose row is finished last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from stenograph.formats.shared.loose import column_value
from stenograph.model.codec import REFUSALS


def session_lines(connection: sqlite3.Connection, session: dict[str, Any]) -> Iterator[bytes]:
    """The rows of one session, a line each; those of a message one after the other."""
    key = (session["id"],)
    yield row_line(session)
    parts = groupby(connection.execute(_PARTS, key), key=itemgetter(1))
    message_id, its_parts = next(parts, _NO_PARTS)
    for message in connection.execute(_MESSAGES, key):
        if message[0] == message_id:
            hints = hints_of(message[-1])
            for part in its_parts:
                yield part_line(part, hints)
            message_id, its_parts = next(parts, _NO_PARTS)
        yield message_line(message)
    for part in connection.execute(_ORPHANS, key):
        yield part_line(part, {})


_NO_PARTS: tuple[Any, Iterator[tuple[Any, ...]]] = (None, iter(()))
_MESSAGES = """
SELECT id, session_id, time_created, time_updated, data FROM message
WHERE session_id = ? ORDER BY time_created, id
"""
_PARTS = """
SELECT part.id, message.id, part.session_id, part.time_created, part.time_updated, part.data
FROM message CROSS JOIN part ON part.message_id = message.id
WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id
"""
_ORPHANS = """
SELECT id, message_id, session_id, time_created, time_updated, data FROM part
WHERE session_id = ? AND message_id NOT IN (SELECT id FROM message) ORDER BY id
"""


def part_line(row: tuple[Any, ...], hints: dict[str, Any]) -> bytes:
    """A part's row, with what it needs to know about its message."""
    part, message, session, made, changed, data = row
    columns = {
        "table": "part",
        "id": column_value(part),
        "message_id": column_value(message),
        "session_id": column_value(session),
        "time_created": made,
        "time_updated": changed,
        **hints,
        "data": json_of(data),
    }
    return row_line(columns)


def message_line(row: tuple[Any, ...]) -> bytes:
    """A message's row."""
    message, session, made, changed, data = row
    columns = {
        "table": "message",
        "id": column_value(message),
        "session_id": column_value(session),
        "time_created": made,
        "time_updated": changed,
        "data": json_of(data),
    }
    return row_line(columns)


class _Facts(msgspec.Struct):
    """The fields of a message's data that its parts need."""

    role: Any = None
    modelID: Any = None  # noqa: N815  # the name is OpenCode's
    summary: Any = None


_decode_facts = msgspec.json.Decoder(_Facts).decode


def hints_of(data: Any) -> dict[str, Any]:
    """What parts need to know of a message's data."""
    try:
        facts = _decode_facts(data)
    except (*REFUSALS, TypeError):  # the message's own line keeps the data
        return {}
    return {"role": facts.role, "model": facts.modelID, "summary": facts.summary is True}


_check = msgspec.json.Decoder(msgspec.Raw).decode


def json_of(text: Any) -> Any:
    """A column as raw JSON on one line, if it is valid JSON; else as text."""
    if not isinstance(text, bytes):
        return text
    try:
        _check(text)
    except REFUSALS:
        return column_value(text)
    return msgspec.Raw(text if b"\n" not in text else text.replace(b"\n", b" "))


def row_line(row: dict[str, Any]) -> bytes:
    """A row as a line."""
    return msgspec.json.encode(row) + b"\n"
