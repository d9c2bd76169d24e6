"""claude_code: the session files of Claude Code and the Claude Agent SDK, versions 1.0, 2.0 and 2.1.

Lines are taken in file order; `parentUuid` is used only for the inline sidechains of 1.0. The name of a file is trusted
over the session id in its lines, because forks and resumed sessions copy lines.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.base import Context
from stenograph.formats.claude_code.line import LINE_TYPES, attachment_event, line_event, system_event
from stenograph.formats.claude_code.message import ClaudeFormat, message_of, text_of
from stenograph.formats.claude_code.progress import record_keys, subagent_record
from stenograph.formats.claude_code.record import ClaudeMessage, SessionRecord, Shape, record_from
from stenograph.formats.claude_code.repeats import spoken_key
from stenograph.formats.claude_code.sidechain import Sidechains
from stenograph.formats.shared.loose import a_str, string
from stenograph.model.block import ToolUseBlock

SPAWNING_TOOLS = ("Agent", "Task")
"""The tool that starts a subagent: its name today, and in 1.x and 2.0."""


_decode = msgspec.json.Decoder(SessionRecord).decode


class ClaudeCodeFormat(ClaudeFormat):
    """One session file, or the file of one of its subagents."""

    name = "claude_code"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._sidechains = Sidechains()
        self._source = context.source
        self._spawners: dict[str, str] = {}
        """The source of each call that begins a subagent."""
        self.subagent_keys: dict[str, set[int]] = {}
        """Keys of subagents' records that were emitted from progress lines, by source."""
        self._spoken: set[int] = set()
        """Keys of the messages so far: a resume may write the beginning of the session again."""

    def _decode(self, line: bytes) -> Any:
        return _decode(line)

    def _convert(self, value: Any) -> Any:
        return record_from(value, SessionRecord)

    def _map(self, record: SessionRecord | None) -> None:
        if record is None:
            return  # not a record: the base keeps it as unknown
        if self.context.already and not self.context.already.isdisjoint(record_keys(record)):
            self._accumulate()
            return
        kind = record.type
        if kind == "progress" and (found := subagent_record(record)) is not None and self._is_new(*found):
            self._subagent(record, *found)
            return
        self._locate(record)
        if self._is_repeated(record):
            self._repeat(record)
        elif kind == "assistant":
            self._assistant(record, message_of(record))
        elif kind == "user":
            self._user_line(record)
        elif kind == "attachment":
            self._attachment(record)
        elif kind == "system":
            self._system(*system_event(record))
        elif kind in ("tool_use", "tool_result", "thinking"):
            self._flat(record, kind)
        elif isinstance(kind, str) and kind in LINE_TYPES:
            self._system(*line_event(record, kind))
            if isinstance(record.shape, Shape):
                self._define(record.shape.tools)

    def _locate(self, record: SessionRecord) -> None:
        """Set the source of a line: the file's, or an inline subagent's."""
        session_id = None
        if self.context.session_id is None:
            session_id = string(record.session_id) or string(record.flat_session_id)
        if record.is_sidechain is not True or self.context.source != "main":
            self._source = self.context.source
            self._place(record.timestamp, session_id=session_id)
            return
        prompt = text_of(message_of(record).content) if record.type == "user" else ""
        chain = self._sidechains.of(record, prompt, self.report.lines)
        self._source = chain.source
        self._place(
            record.timestamp,
            source=chain.source,
            session_id=session_id,
            parent_source=chain.parent_source,
            parent_call_id=chain.parent_call_id,
        )

    def _is_repeated(self, record: SessionRecord) -> bool:
        """Whether this file already has the same message under the same uuid."""
        key = spoken_key(record)
        if key is None or key in self._spoken:
            return key is not None
        self._spoken.add(key)
        return False

    def _repeat(self, record: SessionRecord) -> None:
        """Emit that a record was written again; its usage counts if it changed."""
        self._system("repeated", data={"type": record.type, "uuid": record.uuid})
        if record.type == "assistant":
            self._message_usage(record, message_of(record))

    def _is_new(self, source: str, inner: SessionRecord) -> bool:
        """Whether a subagent's record in a progress line is new and not in a file of its own."""
        if source in self.context.separate:
            return False
        keys, keys_seen = record_keys(inner), self.subagent_keys.setdefault(source, set())
        is_new = keys_seen.isdisjoint(keys)
        keys_seen.update(keys)
        return is_new

    def _subagent(self, record: SessionRecord, source: str, inner: SessionRecord) -> None:
        """Emit a subagent's message or result, as its own file would have it."""
        call_id = string(record.parent_tool_use_id)
        self._source = source
        self._place(
            inner.timestamp,
            source=source,
            session_id=string(record.session_id) if self.context.session_id is None else None,
            parent_source=self._spawners.get(call_id or "", self.context.source),
            parent_call_id=call_id,
        )
        if inner.type == "assistant":
            self._assistant(inner, message_of(inner))
        else:
            self._user_line(inner)

    def _user_line(self, record: SessionRecord) -> None:
        content = message_of(record).content
        if record.is_compact_summary is True:
            self._system("compaction", text_of(content), {"part": "summary"})
            return
        self._user(content, record.tool_use_result, is_harness=record.is_meta is True, origin=record.origin)

    def _attachment(self, record: SessionRecord) -> None:
        attachment = record.attachment
        if attachment is None or attachment.type != "queued_command":
            self._system(*attachment_event(attachment))
            if attachment is not None and attachment.type == "prompt_snapshot":
                self._define(attachment.tools)
            return
        # What came while the agent was busy, a prompt or a notification, is written nowhere else.
        is_harness = attachment.is_meta is True or attachment.command_mode == "task-notification"
        self._user(attachment.prompt, is_harness=is_harness, origin=attachment.origin)

    def _flat(self, record: SessionRecord, kind: str) -> None:
        """The documented flat shapes: one block each, without a message around it."""
        call_id = record.flat_tool_use_id or record.request_id
        name = record.flat_tool_name or record.name
        if kind == "tool_result":
            content = record.output if record.content is None else record.content
            item = {"tool_use_id": call_id, "content": content, "is_error": record.flat_is_error}
            self._result(item, name=name)
        elif kind == "tool_use":
            block = {"type": kind, "id": call_id, "name": name, "input": record.input}
            self._assistant(record, ClaudeMessage(content=[block]))
        else:
            text = record.content if record.thinking is None else record.thinking
            self._assistant(record, ClaudeMessage(content=[{"type": kind, "thinking": a_str(text)}]))

    def _called(self, block: ToolUseBlock) -> None:
        super()._called(block)
        if block.tool_name in SPAWNING_TOOLS and isinstance(block.tool_input, dict):
            self._sidechains.announce(block.tool_input.get("prompt"), block.tool_id, self._source)
            self._spawners[block.tool_id] = self._source
