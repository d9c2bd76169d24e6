"""The sessions in an agent's database: the rows of its transcript are entries, as they were written.

The content of a row never changes, but old rows are compressed, and a whole transcript may be rewritten, which its
watermark shows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from stenograph.formats.base import Identity, run_id_of
from stenograph.formats.layout import State, StoredSession
from stenograph.formats.shared.loose import time_text
from stenograph.formats.shared.pi_entries.detection import identity_of
from stenograph.model.codec import REFUSALS

NAME = "openclaw"
_GOES_ON = ("fork", "rewind", "rollover", "recovery", "compaction")
"""Reasons for a new session that continues the history of the one before."""
_WINDOWS = """
SELECT windows.session_id, windows.session_key, windows.created_at, windows.previous_session_id, windows.reason,
  windows.model,
  coalesce(windows.spawned_by, nodes.spawned_by) AS spawner, nodes.fork_source_session_id AS forked,
  (SELECT max(seq) FROM transcript_events AS events WHERE events.session_id = windows.session_id) AS last,
  (SELECT updated_at FROM transcript_rewrite_watermarks AS marks WHERE marks.session_id = windows.session_id) AS mark
FROM session_windows AS windows LEFT JOIN session_nodes AS nodes
  ON nodes.session_key = windows.session_key AND nodes.current_session_id = windows.session_id
ORDER BY windows.created_at, windows.session_id
"""
_ROWS = """
SELECT seq, event_json, event_zstd, event_utf8_bytes FROM transcript_events
WHERE session_id = ? AND seq > ? ORDER BY seq
"""
_FIRST = 4
"""The number of entries that identify a session: the header, and the model that was chosen."""


def stored_sessions(connection: sqlite3.Connection) -> list[StoredSession]:
    """Every session that has a transcript, the oldest first."""
    version = _text(next(iter(connection.execute("SELECT app_version FROM schema_meta").fetchone() or ()), None))
    cursor = connection.execute(_WINDOWS)
    names = [column[0] for column in cursor.description]
    windows = [{name: _text(value) for name, value in zip(names, row, strict=True)} for row in cursor]
    natives = {str(each["session_id"]): _native(each) for each in windows}
    newest = {each["session_key"]: natives[str(each["session_id"])] for each in windows}
    return [
        _session(connection, each, natives, newest.get(each["spawner"]), version)
        for each in windows
        if each["last"] is not None
    ]


def has_session(connection: sqlite3.Connection, session_id: str) -> bool:
    """Whether the database has a session with this id."""
    return (
        connection.execute("SELECT 1 FROM session_windows WHERE session_id = ?", (session_id,)).fetchone() is not None
    )


def _session(
    connection: sqlite3.Connection, window: dict[str, Any], natives: dict[str, str], parent: str | None, version: Any
) -> StoredSession:
    session_id = str(window["session_id"])
    origin = window["forked"] or (window["previous_session_id"] if window["reason"] in _GOES_ON else None)
    forked = None if origin is None else run_id_of(NAME, natives.get(str(origin), str(origin)))
    first = {
        "timestamp": time_text(window["created_at"]),
        "session_key": window["session_key"],
        "reason": window["reason"],
        "forked_from": forked,
    }
    line = msgspec.json.encode({"type": "session_window", **{name: fact for name, fact in first.items() if fact}})
    head = [_decoded(each) for _, each in zip(range(_FIRST), _entries(connection, session_id), strict=False)]
    header = identity_of(head, "")
    identity = Identity(
        native_id=natives[session_id],
        session_id=session_id,
        parent_native_id=parent,
        cwd=header.cwd,
        agent_version=version,
        model=header.model or window["model"],
    )

    def lines() -> Iterator[bytes]:
        yield line + b"\n"
        yield from _entries(connection, session_id)

    def lines_since(state: State) -> list[bytes] | None:
        is_written_anew = state[1] != (window["mark"] or 0)
        return None if is_written_anew else list(_entries(connection, session_id, state[0]))

    return StoredSession(
        identity=identity,
        state=(int(window["last"]), int(window["mark"] or 0)),
        parent=lambda: (None, None),
        lines=lines,
        lines_since=lines_since,
    )


def _native(window: dict[str, Any]) -> str:
    """The id of a session, with its key if a person chose the id: another agent may have the same one."""
    session_id = str(window["session_id"])
    try:
        return str(UUID(session_id)) if len(session_id) == 36 else f"{window['session_key']}/{session_id}"
    except ValueError:
        return f"{window['session_key']}/{session_id}"


def _entries(connection: sqlite3.Connection, session_id: str, after: int = -1) -> Iterator[bytes]:
    """The entries of a session as lines."""
    for seq, text, packed, size in connection.execute(_ROWS, (session_id, after)):
        data = text if packed is None else _unpacked(packed, size)
        if data is None:
            data = msgspec.json.encode({"type": "unreadable_row", "seq": seq})
        yield data.replace(b"\n", b" ") + b"\n"


def _unpacked(packed: bytes, size: int) -> bytes | None:
    import zstandard  # only old rows need it

    try:
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError:
        return None


def _decoded(line: bytes) -> Any:
    try:
        return msgspec.json.decode(line)
    except REFUSALS:
        return None


def _text(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
