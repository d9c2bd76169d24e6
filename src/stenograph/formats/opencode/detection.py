"""Which files hold OpenCode's rows, and what their beginning says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.opencode.export import is_export, session_id_of
from stenograph.formats.opencode.format import model_name
from stenograph.formats.opencode.row import TABLES
from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str

_FORKS = {"kilo_board": "kilo"}
"""Tables that only a fork of OpenCode has."""
_PREFIXES = {"session": "ses", "message": "msg", "part": "prt", "event": "evt"}


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a database with OpenCode's tables, of its rows as lines of JSON, or of an exported session."""
    return SURE if is_rows(records) and fork_of(records) is None else 0


def fork_of(records: Sequence[Any]) -> str | None:
    """The fork that wrote rows or a database: rows that we read name it, a database has a table of its own."""
    first = a_dict(records[0])
    if (program := first_str(first, "program")) is not None:
        return program
    tables = a_list(first.get("tables"))
    return next((fork for table, fork in _FORKS.items() if table in tables), None)


def is_rows(records: Sequence[Any]) -> bool:
    """Whether it is a database, rows or an export, of OpenCode or a fork."""
    first = a_dict(records[0])
    if first.get("database") == "sqlite":
        return {*TABLES, "project"} <= {name for name in a_list(first.get("tables")) if isinstance(name, str)}
    if "table" in first:
        prefix = _PREFIXES.get(a_str(first["table"]))
        return prefix is not None and a_str(first.get("id")).startswith(prefix)
    return is_export(first)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The first session, and its parent; the layout lists all sessions of a database."""
    for record in records:
        record = a_dict(record)
        if record.get("table") == "session":
            return session_identity(record)
        if is_export(record):
            return session_identity({**record["info"], "id": session_id_of(record)})
        session_id = a_str(record.get("session_id")) or a_str(record.get("aggregate_id"))
        if session_id:
            return Identity(native_id=session_id, session_id=session_id)
    return Identity()


def session_identity(session: dict[str, Any]) -> Identity:
    """The run and the source of a session, by its row or its JSON."""
    session_id = a_str(session.get("id"))
    parent = a_str(session.get("parent_id")) or a_str(session.get("parentID"))
    is_subagent = bool(parent) and parent != session_id
    root = a_str(session.get("root_id")) or parent
    return Identity(
        native_id=root if is_subagent else session_id,
        session_id=session_id or None,
        source=f"subagent:{session_id}" if is_subagent else "main",
        cwd=first_str(session, "directory"),
        agent_version=first_str(session, "version"),
        model=model_name(session.get("model")),
    )
