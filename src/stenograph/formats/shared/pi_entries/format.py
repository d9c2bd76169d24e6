"""pi's entries to events, as its files, those of its forks and OpenClaw's rows share them.

Theory of operation. A session is a header and entries that are appended. Each names the entry that it follows, so that
a session is a tree: if an entry does not follow the one before it, another branch begins or continues, and a note says
so. Nothing is removed: entries on other branches stay, and an edit of the context leaves the entry in place. A retry
leaves an answer without text and tokens for every failure. A fork copies entries with their ids and times, so that
their tokens count once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from stenograph.formats.base import Context, LineFormat, run_id_of
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import small, string
from stenograph.formats.shared.pi_entries import content
from stenograph.formats.shared.pi_entries.detection import session_of
from stenograph.formats.shared.pi_entries.record import Entry, EntryMessage, entry_from
from stenograph.model.block import ToolUseBlock
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload

_decode = msgspec.json.Decoder(Entry).decode
ABORTED = "aborted"
_ERROR = "error"
_PLAIN = ("model_change", "thinking_level_change", "custom", "context_edit", "label", "leaf", "session_window")
"""Entries that are emitted as their facts only, under the name of their type."""


class PiEntryFormat(LineFormat):
    """One session. Subclasses set `name`."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session_id = context.session_id
        self._ids: set[str] = set()
        """The ids of all entries so far: a named parent may be missing in the file."""
        self._last: str | None = None

    def _decode(self, line: bytes) -> Any:
        return _decode(line)

    def _convert(self, value: Any) -> Any:
        return entry_from(value)

    def _map(self, entry: Entry | None) -> None:
        if entry is None or entry.type.__class__ is not str:
            return  # not an entry: the base keeps it as unknown
        if entry.type == "session":
            self._session_id = self._session_id or string(entry.id)
        self._place(entry.timestamp, session_id=self._session_id)
        if entry.type == "message" and isinstance(entry.message, EntryMessage):
            act = _ROLES.get(entry.message.role) if isinstance(entry.message.role, str) else None
            if act is not None:
                self._follow(entry)
                act(self, entry, entry.message)
        elif entry.type in _PLAIN:
            self._follow(entry)
            self._notice(content.notice_of(entry.type, entry))
        elif entry.type in _TYPES:
            self._follow(entry)
            _TYPES[entry.type](self, entry)

    def _notice(self, payload: SystemPayload) -> None:
        self._emit("system.event", payload)

    def _follow(self, entry: Entry) -> None:
        """Emit a note where a branch begins or continues: an entry that does not follow the one before it."""
        entry_id = string(entry.id)
        if entry_id is None or entry.type in ("session", "session_window"):
            return
        parent = string(entry.parent_id)
        is_elsewhere = parent != self._last and self._last is not None
        if is_elsewhere and (parent is None or parent in self._ids):
            self._notice(SystemPayload(subtype="branch", data=small((("parentId", parent), ("left", self._last)))))
        self._ids.add(entry_id)
        self._last = entry_id

    # What is said.

    def _user(self, entry: Entry, message: EntryMessage) -> None:
        blocks = content.blocks_of(message.content)
        self._emit("message.user", MessagePayload(role="user", blocks=blocks, message_id=string(entry.id)))

    def _assistant(self, entry: Entry, message: EntryMessage) -> None:
        """Emit an answer, or the rest of one that failed or was stopped."""
        blocks = content.blocks_of(message.content)
        reason, entry_id = string(message.stop_reason), string(entry.id)
        has_failed = reason in (_ERROR, ABORTED)
        if blocks or not has_failed:
            payload = MessagePayload(
                role="assistant", blocks=blocks, model=string(message.model), message_id=entry_id, stop_reason=reason
            )
            self._emit("message.assistant", payload)
        for block in blocks:
            if isinstance(block, ToolUseBlock):
                self._emit("tool.call", call_of(block))
        if has_failed:
            said = string(message.error_message)
            default = "The answer was stopped." if reason == ABORTED else "The call of the model failed."
            self._emit("error", ErrorPayload(message=said or default, code=reason))
        self._usage(message.usage, message.model, entry)

    def _usage(self, usage: Any, model: Any, entry: Entry) -> None:
        payload = content.usage_of(usage, model, string(entry.id) or "")
        if payload is not None:
            self._emit("token.usage", payload)

    # What is done.

    def _result(self, entry: Entry, message: EntryMessage) -> None:
        self._emit("tool.result", content.result_of(message))

    def _command(self, entry: Entry, message: EntryMessage) -> None:
        call, result = content.typed_command(message, string(entry.id) or f"line-{self.report.lines}")
        self._emit("tool.call", call)
        self._emit("tool.result", result)

    # Everything else.

    def _system(self, entry: Entry, message: EntryMessage) -> None:
        self._notice(SystemPayload(subtype="system_prompt", text=content.prompt_of(message) or None))

    def _custom(self, entry: Entry, message: EntryMessage) -> None:
        facts = small((("customType", string(message.custom_type)), ("display", message.display is True)))
        self._notice(
            SystemPayload(subtype="custom_message", text=content.words_of(message.content) or None, data=facts)
        )

    def _left_branch(self, entry: Entry, message: EntryMessage) -> None:
        facts = small((("fromId", string(message.from_id)),))
        self._notice(SystemPayload(subtype="branch_summary", text=string(message.summary), data=facts))

    def _summed_up(self, entry: Entry, message: EntryMessage) -> None:
        self._notice(content.compaction_of(message))

    def _header(self, entry: Entry) -> None:
        origin = session_of(entry.parent_session) or session_of(entry.branched_from)
        forked = None if origin is None else run_id_of(self.name, origin)
        self._notice(content.notice_of("session", entry, id=string(entry.id), forked_from=forked))

    def _compaction(self, entry: Entry) -> None:
        self._notice(content.compaction_of(entry))
        self._usage(entry.usage, entry.model, entry)

    def _branch_summary(self, entry: Entry) -> None:
        self._notice(content.notice_of("branch_summary", entry, entry.summary))
        self._usage(entry.usage, entry.model, entry)

    def _custom_message(self, entry: Entry) -> None:
        self._notice(content.notice_of("custom_message", entry, content.words_of(entry.content)))

    def _named(self, entry: Entry) -> None:
        self._notice(content.notice_of("session_info", entry, entry.name))

    def _counted(self, entry: Entry) -> None:
        self._notice(content.notice_of("usage", entry, entry.note))
        self._usage(entry.usage, entry.model, entry)


_ROLES: dict[str, Callable[[PiEntryFormat, Entry, EntryMessage], None]] = {
    "user": PiEntryFormat._user,
    "assistant": PiEntryFormat._assistant,
    "toolResult": PiEntryFormat._result,
    "bashExecution": PiEntryFormat._command,
    "system": PiEntryFormat._system,
    "custom": PiEntryFormat._custom,
    "hookMessage": PiEntryFormat._custom,
    "branchSummary": PiEntryFormat._left_branch,
    "compactionSummary": PiEntryFormat._summed_up,
}
_TYPES: dict[str, Callable[[PiEntryFormat, Entry], None]] = {
    "session": PiEntryFormat._header,
    "compaction": PiEntryFormat._compaction,
    "branch_summary": PiEntryFormat._branch_summary,
    "custom_message": PiEntryFormat._custom_message,
    "session_info": PiEntryFormat._named,
    "usage": PiEntryFormat._counted,
}
