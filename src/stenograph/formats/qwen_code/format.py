"""The records of a session as events.

Theory of operation. A session is a file of records that are appended; a rewind begins a new branch, and the old one
stays in the transcript. `ui_telemetry` repeats calls of models and tools, also of subagents, and is never counted; only
a failed call of the model is nowhere else. A fork copies records with their ids, so their tokens count once. A
subagent's answer is two records, words with their tokens and then each call: one message.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.qwen_code import content
from stenograph.formats.qwen_code.record import (
    CallResult,
    Origin,
    Payload,
    Record,
    Said,
    UiEvent,
    Usage,
    record_from,
)
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import string
from stenograph.model.block import ToolUseBlock
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload

_decode = msgspec.json.Decoder(Record).decode
_SAID = ("mid_turn_user_message", "realtime_message")
"""Subtypes of messages that a person or the model said."""
_MOST = 4096
"""The most durations that wait for their results, which follow soon."""


class QwenCodeFormat(LineFormat):
    """One file: a session's, or a subagent's."""

    name = "qwen_code"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session_id = context.session_id
        self._forked = False
        """Whether the origin of this fork was emitted."""
        self._reply = ""
        """The id of the last record, when it was an answer of a subagent."""
        self._took: dict[str, Any] = {}
        """How long calls took, by their ids, until their results come."""

    def _decode(self, line: bytes) -> Any:
        return _decode(line)

    def _convert(self, value: Any) -> Any:
        return record_from(value)

    def _map(self, record: Record | None) -> None:
        if record is None or string(record.uuid) is None:
            return  # not a record: the base keeps it as unknown
        reply, self._reply = self._reply, ""
        self._session_id = self._session_id or string(record.session_id)
        self._at(record)
        if isinstance(record.forked_from, Origin) and not self._forked and string(record.forked_from.session_id):
            self._forked = True
            self._notice(SystemPayload(subtype="fork", data={"sessionId": record.forked_from.session_id}))
        parts = record.message.parts if isinstance(record.message, Said) else None
        if record.type == "assistant" and isinstance(parts, list):
            self._answer(record, parts, reply)
        elif record.type == "user" and isinstance(parts, list):
            self._user(record, parts)
        elif record.type == "tool_result" and (
            isinstance(parts, list) or isinstance(record.tool_call_result, CallResult)
        ):
            self._results(record, parts)
        elif record.type == "system" and string(record.subtype):
            self._system(record)

    def _at(self, record: Record, source: str | None = None) -> None:
        agent_id = string(record.agent_id)
        source = source or (None if agent_id is None else f"subagent:{agent_id}")
        self._place(record.timestamp, source=source, session_id=self._session_id)

    def _notice(self, payload: SystemPayload) -> None:
        self._emit("system.event", payload)

    # What is said.

    def _user(self, record: Record, parts: list[Any]) -> None:
        """A prompt, or what the harness writes under the user's role."""
        message_id = string(record.uuid) or ""
        subtype = string(record.subtype)
        if subtype is None and record.external_input_kind not in (None, "message"):
            subtype = string(record.external_input_kind)
        added = [text for part in parts if (text := content.hook_context(part)) is not None]
        blocks = content.blocks_of([part for part in parts if content.hook_context(part) is None], message_id)
        if subtype is None or subtype in _SAID:
            self._emit("message.user", MessagePayload(role="user", blocks=tuple(blocks), message_id=message_id))
            for text in added:
                self._notice(SystemPayload(subtype="hook_context", text=text))
            return
        words = "\n".join(each.text for each in blocks if hasattr(each, "text"))
        payload = record.system_payload if isinstance(record.system_payload, Payload) else Payload()
        self._notice(content.notice_of(subtype, payload, words or None))

    def _answer(self, record: Record, parts: list[Any], reply: str) -> None:
        usage = record.usage_metadata if isinstance(record.usage_metadata, Usage) else None
        own = string(record.uuid) or ""
        is_subagents = string(record.agent_id) is not None
        message_id = reply if reply and usage is None else own
        if is_subagents:
            self._reply = message_id
        blocks = content.blocks_of(parts, own)
        payload = MessagePayload(
            role="assistant", blocks=tuple(blocks), model=string(record.model), message_id=message_id
        )
        self._emit("message.assistant", payload)
        for block in blocks:
            if isinstance(block, ToolUseBlock):
                self._emit("tool.call", call_of(block))
        counted = None if usage is None else content.usage_of(usage, string(record.model), own)
        if counted is not None:
            self._emit("token.usage", counted)

    # What is done.

    def _results(self, record: Record, parts: Any) -> None:
        for result in content.results_of(parts, record.tool_call_result):
            took = self._took.pop(result.call_id, None)
            if result.duration_ms is None:
                result = content.timed(result, took)
            self._emit("tool.result", self._joined(result))
        ended = record.tool_call_result
        if isinstance(ended, CallResult) and ended.status == content.CANCELLED:
            self._notice(SystemPayload(subtype=content.CANCELLED, data={"callId": ended.call_id}))

    def _joined(self, result: ToolPayload) -> ToolPayload:
        """A result with all of its output, if the program stored it in a file that exists."""
        name = content.side_file_of(result.output)
        if name is None:
            return result
        read = self.context.side_file
        whole = None if read is None else read(name)
        if whole is not None:
            return replace(result, output=whole)
        if name not in self.report.wanted_files:
            self.report.wanted_files.append(name)
        return result

    # Everything else.

    def _system(self, record: Record) -> None:
        payload = record.system_payload if isinstance(record.system_payload, Payload) else Payload()
        subtype = string(record.subtype) or ""
        if isinstance(event := payload.ui_event, UiEvent):
            self._measured(record, event)
        elif subtype == "chat_compression":
            self._notice(content.compaction_of(payload))
        else:
            self._notice(content.notice_of(subtype, payload))

    def _measured(self, record: Record, event: UiEvent) -> None:
        if event.name == "qwen-code.api_error":
            agent_id = string(event.subagent_id)
            if agent_id is not None:
                self._at(record, f"subagent:{agent_id}")
            self._emit("error", content.model_error(event))
            return
        call_id = string(event.call_id)
        if event.name == "qwen-code.tool_call" and call_id is not None and len(self._took) < _MOST:
            self._took[call_id] = event.duration_ms
        self._notice(content.measured(event))
