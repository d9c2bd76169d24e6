"""OpenCode's layout: one database with all sessions, and a folder for outputs that were too long."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from stenograph.errors import SourceError
from stenograph.formats.opencode.detection import detect, session_identity
from stenograph.model.codec import REFUSALS
from stenograph.sources.database import head_of_database, is_database, reading
from stenograph.sources.layout import Layout, SideFile, StoredSession, side_files_in
from stenograph.sources.opencode_rows import plain, session_lines


class OpenCodeLayout(Layout):
    """`$XDG_DATA_HOME/opencode/opencode.db`, or where `$OPENCODE_DB` says."""

    def roots(self, environment: Mapping[str, str], home: Path) -> list[Path]:
        """The folder of the database; a relative `$OPENCODE_DB` is in the usual one."""
        data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
        named = environment.get("OPENCODE_DB")
        return [data] if not named or named == ":memory:" else [(data / named).parent]

    def sessions(self, root: Path) -> Iterator[Path]:
        """The databases: one for each channel from which OpenCode was installed."""
        yield from (path for path in sorted(root.glob("*.db")) if is_database(path) and _is_ours(path))

    def find(self, root: Path, session_id: str) -> Path | None:
        """The database that has the session."""
        for path in self.sessions(root):
            with reading(path) as connection:
                if connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone():
                    return path
        return None

    def side_file(self, session: Path, session_id: str) -> SideFile:
        """Outputs too long for the database, which are parked beside it."""
        return side_files_in(session.parent / "tool-output")

    def stored(self, path: Path) -> AbstractContextManager[list[StoredSession]] | None:
        """Every session of the database, the oldest run first, each with its subagents'."""
        return _stored(path) if is_database(path) else None


def _is_ours(path: Path) -> bool:
    """Whether a database is OpenCode's; one that cannot be read holds nothing to be found, and says so when named."""
    try:
        return detect(head_of_database(path), str(path))
    except SourceError:
        return False


@contextmanager
def _stored(path: Path) -> Iterator[list[StoredSession]]:
    with reading(path) as connection:
        known = _sessions(connection)
        rows = [_with_root(row, known) for row in known.values()]
        links = _links(connection) if any(row.get("root_id") for row in rows) else {}
        sources = {str(row["id"]): session_identity(row).source for row in rows}
        found = [_session(connection, row, links, sources) for row in rows]
        order = {each.identity.native_id: number for number, each in reversed(list(enumerate(found)))}
        yield sorted(found, key=lambda each: order[each.identity.native_id])


def _sessions(connection: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    """The rows of the table, by their ids."""
    cursor = connection.execute("SELECT * FROM session ORDER BY time_created, id")
    names = [column[0] for column in cursor.description]
    rows = [{name: plain(value) for name, value in zip(names, row, strict=True)} for row in cursor]
    return {str(row["id"]): {"table": "session", **row} for row in rows}


def _with_root(row: dict[str, Any], rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A subagent's row with the session at whose wish it exists: the topmost that is known, even if it was deleted."""
    root, seen = str(row["id"]), set()
    while root not in seen and root in rows and rows[root].get("parent_id"):
        seen.add(root)
        root = str(rows[root]["parent_id"])
    return row if root == row["id"] else {**row, "root_id": root}


def _links(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """The session and the call that began a session, by its id: the part of a call names it."""
    links: dict[str, tuple[str, str]] = {}
    query = "SELECT session_id, data FROM part WHERE data LIKE '%\"sessionId\"%' ORDER BY id"
    for session_id, data in connection.execute(query):
        try:
            part = msgspec.json.decode(data, type=_Spawning)
        except REFUSALS:
            continue  # no call that began a session
        if part.state.metadata.session_id:
            links.setdefault(part.state.metadata.session_id, (str(plain(session_id)), part.call_id))
    return links


class _Metadata(msgspec.Struct, frozen=True):
    session_id: str = msgspec.field(default="", name="sessionId")


class _State(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class _Spawning(msgspec.Struct, frozen=True):
    """What of a tool's part tells that it began a session."""

    call_id: str = msgspec.field(default="", name="callID")
    state: _State = _State()


def _session(
    connection: sqlite3.Connection,
    row: dict[str, Any],
    links: dict[str, tuple[str, str]],
    sources: dict[str, str],
) -> StoredSession:
    parent, call_id = links.get(str(row["id"]), (str(row.get("parent_id")), None))
    if call_id is not None:
        row = {**row, "parent_call_id": call_id}
    identity = session_identity(row)
    return StoredSession(
        identity=identity,
        parent_source=None if identity.source == "main" else sources.get(parent),
        parent_call_id=call_id,
        lines=lambda: session_lines(connection, row),
    )
