"""opencode: rows of OpenCode's database, one JSON object each, as `rows.py` writes them.

A row may come again whenever it has changed, and rows of several sessions may come in any mixture; a part may come
before or after its message. Each row emits what is new in it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.base import Context
from stenograph.formats.opencode.content import error_of, facts_of, stamp
from stenograph.formats.opencode.export import exported_rows, is_export
from stenograph.formats.opencode.parts import Part, PartFormat, first_stamp
from stenograph.formats.opencode.row import Row, hints_of, rows_of
from stenograph.formats.opencode.sessions import NAME, Session, Sessions
from stenograph.formats.shared.loose import a_dict, a_str
from stenograph.model.codec import REFUSALS

_SESSION_FACTS = ("title", "directory", "version", "agent", "model", "parent_id", "share_url", "revert")
_SPELLINGS = {"parent_id": "parentID", "share_url": "share"}


class OpenCodeFormat(PartFormat):
    """The rows of one session, or of a whole database."""

    name = NAME

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._sessions = Sessions(context, self.name)
        self._messages: dict[str, dict[str, Any]] = {}
        """What parts need to know about their message, by its id."""
        self._facts: dict[str, tuple[Any, ...]] = {}
        """Emitted facts of a session or message, by its id, which begins with `ses` or `msg`."""
        self._session: Session | None = None
        self._session_id = ""

    def _map(self, record: Any) -> None:
        self._run_id, self._session, self._session_id = self.context.run_id, None, ""
        if not isinstance(record, dict):
            return  # not a record: the base keeps it as unknown
        rows = exported_rows(record, self.context.run_id) if is_export(record) else rows_of(record)
        for row in rows:
            self._row(row)
        if not rows and record.get("table") == "event":
            self._locate(a_str(record.get("aggregate_id")))
            self._at()
            self._system(a_str(record.get("type")) or "event")

    def _row(self, row: Row) -> None:
        self._locate(row.session_id)
        match row.table:
            case "session":
                self._session_row(row)
            case "message":
                self._message_row(row)
            case _:
                self._part_row(row)

    def _locate(self, session_id: str) -> None:
        """Set the session of a row; a row without one belongs to the file's."""
        self._session_id = session_id
        self._session = self._sessions.get(session_id) if session_id else None
        self._run_id = self.context.run_id if self._session is None else self._session.run_id

    def _at(self, *times: Any) -> None:
        session = self._session
        if session is None:
            self._place(first_stamp(*times))
            return
        self._place(
            first_stamp(*times),
            source=session.source,
            session_id=self._session_id,
            parent_source=session.parent_source,
            parent_call_id=session.parent_call_id,
        )

    def _session_row(self, row: Row) -> None:
        data = row.data
        if row.session_id:
            parent = a_str(data.get("parent_id")) or a_str(data.get("parentID"))
            self._sessions.learn(
                row.session_id, parent, a_str(row.hints.get("root_id")), a_str(row.hints.get("parent_call_id"))
            )
            self._locate(row.session_id)
        facts = {name: data.get(name) or data.get(_SPELLINGS.get(name, name)) for name in _SESSION_FACTS}
        facts["model"] = model_name(facts["model"])
        self._at(row.created)
        self._emit_changes(row, facts, a_str(facts["title"]))

    def _emit_changes(self, row: Row, facts: dict[str, Any], text: str) -> None:
        """Emit a system event named by the table, with the facts that are new; `repeated` when none is."""
        known = self._facts.get(row.id)
        self._facts[row.id] = tuple(facts.values())
        if known is not None:
            facts = {name: value for (name, value), old in zip(facts.items(), known, strict=True) if value != old}
        changed = facts_of(facts)
        if changed is None and known is not None:
            self._system("repeated")
        else:
            self._system(row.table, text or None, changed)

    def _message_row(self, row: Row) -> None:
        data = row.data
        if row.id:
            self._messages[row.id] = hints_of(data)
        time, model = a_dict(data.get("time")), a_dict(data.get("model"))
        error = data.get("error")
        facts = {
            "role": data.get("role"),
            "message_id": row.id,
            "agent": data.get("agent"),
            "model": data.get("modelID") or model.get("modelID"),
            "provider": data.get("providerID") or model.get("providerID"),
            "parent_id": data.get("parentID"),
            "system": data.get("system"),
            "finish": data.get("finish"),
            "cost": data.get("cost") or None,
            "completed": stamp(time.get("completed")),
            "error": a_dict(error).get("name"),
        }
        self._at(time.get("completed"), time.get("created"), row.created)
        words = (facts[name] for name in ("role", "agent", "model", "finish", "error"))
        self._emit_changes(row, facts, ", ".join(each for each in words if isinstance(each, str)))
        if isinstance(error, dict) and f"{row.id} error" not in self._seen:
            self._seen.add(f"{row.id} error")
            self._emit("error", error_of(error))

    def _part_row(self, row: Row) -> None:
        hints = row.hints if "role" in row.hints else self._messages.get(row.message_id, {})
        data = row.data
        if data.get("type") == "tool" and self._session is not None:
            child = a_str(a_dict(a_dict(data.get("state")).get("metadata")).get("sessionId"))
            if child:
                self._sessions.spawned(child, self._session, a_str(data.get("callID")))
        self._part(
            Part(
                id=row.id,
                message_id=row.message_id,
                data=data,
                role=a_str(hints.get("role")),
                model=a_str(hints.get("model")) or None,
                is_summary=hints.get("summary") is True,
                time=row.created,
            )
        )


def model_name(model: Any) -> str | None:
    """The model's own name: a column holds it as JSON in a string."""
    if isinstance(model, str):
        try:
            model = msgspec.json.decode(model)
        except (*REFUSALS, UnicodeEncodeError):
            return None
    return a_str(a_dict(model).get("id")) or None
