"""Which files hold a session of Cline 3, and what they say about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_list, dicts, first_in_records, first_str, time_text

_SUBAGENT = "subagent"
_EPOCH = re.compile(r"(?:\A|_)(\d{13})_[^_]+\Z")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a document with a version, an agent, a session and messages, or of the line that begins one."""
    return SURE if is_document(records[0]) else 0


def is_document(record: Any) -> bool:
    """Whether a record is a document of messages, or its beginning without them."""
    fields = a_dict(record)
    names = isinstance(fields.get("sessionId"), str) and isinstance(fields.get("agent"), str)
    is_ours = names and isinstance(fields.get("messages"), list) and isinstance(fields.get("version"), int)
    return is_ours and all("role" in a_dict(each) for each in a_list(fields["messages"])[:3])


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by its document; a subagent's belongs to the run of the session that began it."""
    record = next((a_dict(each) for each in records if is_document(each)), {})
    return identity_of(record)


def identity_of(document: dict[str, Any], session: dict[str, Any] | None = None) -> Identity:
    """The session by its document, with what the session's own file says about it."""
    origin = a_dict(document.get("origin"))
    facts = session or {}
    named = first_str(document, "sessionId") or first_str(facts, "session_id") or ""
    parent = first_str(origin, "parentThreadId")
    is_subagent = parent is not None and parent != named
    models = (a_dict(each.get("modelInfo")) for each in dicts(document.get("messages")))
    return Identity(
        native_id=parent if is_subagent and parent is not None else named,
        session_id=named or None,
        source=f"subagent:{agent_of(document)}" if is_subagent else "main",
        cwd=first_str(facts, "cwd", "workspace_root"),
        agent_version=first_str(origin, "version")
        or first_str(a_dict(a_dict(facts.get("metadata")).get("sessionHistoryOrigin")), "version"),
        model=first_in_records(models, "id") or first_str(facts, "model"),
    )


def began(session_id: str) -> str | None:
    """When a session began: its id says it in milliseconds."""
    found = _EPOCH.search(session_id)
    return None if found is None else time_text(int(found[1]))


def agent_of(document: dict[str, Any]) -> str:
    """The id of the subagent whose document it is."""
    return first_str(a_dict(document.get("origin")), "subagent") or first_str(document, "sessionId") or _SUBAGENT
