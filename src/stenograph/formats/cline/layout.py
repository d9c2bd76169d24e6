"""Where Cline keeps its sessions: a folder for each, with the messages, facts about it, and those of its subagents."""

from __future__ import annotations

from typing import Any

from stenograph.formats.cline.detection import identity_of, is_document
from stenograph.formats.cline.words import is_compaction
from stenograph.formats.layout import Contents, Home, Layout, Parent, StoredSession
from stenograph.formats.shared.collection import run_line
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts
from stenograph.formats.shared.rewritten import session_of_lines

_SPAWNING = "spawn_agent"
_CHANGES_ALWAYS = "updated_at"


def sessions_in(files: Contents) -> list[StoredSession]:
    """The session of a folder, then those of its subagents in the order in which they began."""
    main = a_dict(_one(files.read("")))
    others = [a_dict(files.read(name)) for name in files.names if name]
    facts = next((each for each in others if is_facts(each)), None)
    calls = _spawning_calls(main)
    noted = [message for each in others if _is_copy(each, main) for message in dicts(each["messages"])]
    compactions = [run_line(message) for message in noted if is_compaction(message)]
    found = [_session(main, facts, [*_lines(main, facts), *compactions], None)]
    for each in sorted((each for each in others if _is_subagent(each, main)), key=_began):
        its_calls = calls.get(_task(each))
        found.append(_session(each, facts, _lines(each, None), its_calls.pop(0) if its_calls else None))
    return found


def _session(
    document: dict[str, Any], facts: dict[str, Any] | None, lines: list[bytes], call_id: str | None
) -> StoredSession:
    identity = identity_of(document, facts)
    parent: Parent = (None, None) if identity.source == "main" else ("main", call_id)
    return session_of_lines(identity, lines, lambda: parent)


def _one(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def is_facts(record: dict[str, Any]) -> bool:
    """Whether a record holds facts about a session, and not its messages."""
    return isinstance(record.get("session_id"), str) and "started_at" in record


def _is_subagent(document: dict[str, Any], main: dict[str, Any]) -> bool:
    parent = a_dict(document.get("origin")).get("parentThreadId")
    return is_document(document) and parent is not None and parent == main.get("sessionId")


def _is_copy(document: dict[str, Any], main: dict[str, Any]) -> bool:
    """Whether a document holds the messages of the session as they were shortened for the model."""
    return is_document(document) and document["sessionId"] == main.get("sessionId")


def _began(document: dict[str, Any]) -> tuple[str, str]:
    first = next(iter(dicts(document.get("messages"))), {})
    return f"{first.get('ts') or 0:>20}", a_str(document.get("sessionId"))


def _lines(document: dict[str, Any], facts: dict[str, Any] | None) -> list[bytes]:
    """Lines: the document without its messages, the facts about it, and one for each message."""
    head = {name: value for name, value in document.items() if name not in ("messages", _CHANGES_ALWAYS)}
    noted = [] if facts is None else [facts]
    return [run_line(each) for each in ({**head, "messages": []}, *noted, *a_list(document.get("messages")))]


def _task(document: dict[str, Any]) -> str:
    """The task of a subagent: the text of its first message."""
    first = next(iter(dicts(document.get("messages"))), {})
    return "\n".join(a_str(part.get("text")) for part in dicts(first.get("content")))


def _spawning_calls(document: dict[str, Any]) -> dict[str, list[str]]:
    """The calls that began subagents, by their tasks: nothing else links them."""
    found: dict[str, list[str]] = {}
    for message in dicts(document.get("messages")):
        for part in dicts(message.get("content")):
            if part.get("type") == "tool_use" and part.get("name") == _SPAWNING:
                found.setdefault(a_str(a_dict(part.get("input")).get("task")), []).append(a_str(part.get("id")))
    return found


LAYOUT = Layout(
    homes=(
        Home(default=".cline", variable="CLINE_DIR", folder="data/sessions"),
        Home(default=".cline/data", variable="CLINE_DATA_DIR", folder="sessions"),
        Home(default=".cline/data/sessions", variable="CLINE_SESSION_DATA_DIR"),
    ),
    sessions=("{session}/{session}.messages.json",),
    runs=sessions_in,
    parts=("*.json",),
)
