"""Where Continue keeps its sessions: a document for each, which is rewritten after each turn."""

from __future__ import annotations

from typing import Any

from stenograph.formats.continue_session.detection import identity_of
from stenograph.formats.layout import Contents, Home, Layout, StoredSession
from stenograph.formats.shared.collection import run_line
from stenograph.formats.shared.loose import a_dict, a_list, dicts
from stenograph.formats.shared.rewritten import session_of_lines

_SUMS = "usage"
_LIST = "sessions.json"


def session_in(files: Contents) -> list[StoredSession]:
    """The session of a document: its beginning, a line for each item of its history, and its sums."""
    value = files.read("")
    document = a_dict(value[0] if isinstance(value, list) and value else value)
    head = {name: value for name, value in document.items() if name not in ("history", _SUMS)}
    listed = dicts(files.read(_LIST)) if _LIST in files.names else []
    head |= next((_noted(each) for each in listed if each.get("sessionId") == document.get("sessionId")), {})
    items = enumerate(a_list(document.get("history")), 1)
    lines = [{**head, "history": []}, *({"number": number, **_item(item)} for number, item in items)]
    sums = [{"sessionId": document.get("sessionId"), _SUMS: document[_SUMS]}] if _SUMS in document else []
    return [session_of_lines(identity_of(document), [run_line(each) for each in (*lines, *sums)])]


def _noted(entry: dict[str, Any]) -> dict[str, Any]:
    """What only the list of all sessions has: when a session began."""
    return {name: entry[name] for name in ("dateCreated",) if name in entry}


def _item(item: Any) -> dict[str, Any]:
    """The line of a history item, with its number, because two items may be equal."""
    return item if isinstance(item, dict) else {"item": item}


def _last_part(session_id: str) -> str:
    return session_id.rpartition("-")[2]


LAYOUT = Layout(
    homes=(Home(default=".continue", variable="CONTINUE_GLOBAL_DIR", folder="sessions"),),
    sessions=("*-*-*-*-{session}.json",),
    session_in_name=_last_part,
    runs=session_in,
    shared=(_LIST,),
)
