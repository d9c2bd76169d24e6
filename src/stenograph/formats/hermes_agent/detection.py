"""Which files hold sessions of Hermes Agent, and what a session's row says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str

TABLES = ("sessions", "messages", "session_model_usage", "async_delegations")
"""The tables whose rows are read."""
_SIGNS = frozenset({"sessions", "messages", "messages_fts", "schema_version", "state_meta"})


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a database with the tables of Hermes, of its rows as lines of JSON, or of an old session document."""
    first = a_dict(records[0])
    if first.get("database") == "sqlite":
        return SURE if set(filter(_is_text, a_list(first.get("tables")))) >= _SIGNS else 0
    is_row = first.get("table") in TABLES and (
        "session_id" in first or "started_at" in first or "origin_session" in first
    )
    return SURE if is_row or is_document(first) else 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_document(record: Any) -> bool:
    """Whether a record is a session as Hermes wrote it before it had a database: one document."""
    fields = a_dict(record)
    named = all(isinstance(fields.get(name), str) for name in ("session_id", "session_start", "platform"))
    return named and isinstance(fields.get("messages"), list)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The first session, and its parent; the layout lists all sessions of a database."""
    for record in map(a_dict, records):
        if record.get("table") == "sessions" or is_document(record):
            return session_identity({"id": record.get("session_id"), **record})
        if session_id := a_str(record.get("session_id")):
            return Identity(native_id=session_id, session_id=session_id)
    return Identity()


def session_identity(session: Mapping[str, Any]) -> Identity:
    """The run and the source of a session, by its row; the reader adds the root session of a subagent."""
    session_id = a_str(session.get("id"))
    parent = subagent_of(session)
    settings = a_dict(arguments_of(session.get("model_config")))
    return Identity(
        native_id=session_id if parent is None else a_str(session.get("root_id")) or parent,
        session_id=session_id or None,
        source="main" if parent is None else f"subagent:{session_id}",
        cwd=first_str(dict(session), "cwd") or first_str(settings, "cwd"),
        branch=first_str(dict(session), "git_branch"),
        model=first_str(dict(session), "model"),
    )


def subagent_of(session: Mapping[str, Any]) -> str | None:
    """The session that spawned a subagent's session; None for one that a person began, branched or continued."""
    settings = a_dict(arguments_of(session.get("model_config")))
    parent = first_str(settings, "_delegate_from") or first_str(dict(session), "parent_session_id")
    is_subagent = session.get("source") == "subagent" or "_delegate_from" in settings
    return parent if is_subagent and "_branched_from" not in settings and parent != session.get("id") else None
