"""claude_stream: what `claude -p --output-format stream-json` prints, partial messages included.

Whole assistant lines repeat the partial ones, so partial ones are held and dropped when the whole one comes; a message
that never comes whole (an interruption, a cut file) is emitted when the next one begins or at the end.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.base import Context
from stenograph.formats.claude_code.message import ClaudeFormat, message_of
from stenograph.formats.claude_code.record import (
    ClaudeMessage,
    Fields,
    StreamCompactMetadata,
    StreamRecord,
    record_from,
)
from stenograph.formats.claude_stream.partial import Partial
from stenograph.formats.shared.loose import a_str, dollars, string
from stenograph.model.payload import ErrorPayload

KNOWN_TYPES = {
    "agent_metadata",
    "auth_status",
    "control_cancel_request",
    "control_request",
    "control_response",
    "conversation_reset",
    "files_persisted",
    "keep_alive",
    "mirror_error",
    "prompt_suggestion",
    "rate_limit_event",
    "streamlined_text",
    "streamlined_tool_use_summary",
    "tool_progress",
    "tool_use_summary",
    "transcript_mirror",
    "update_environment_variables",
}
"""Line types besides messages, `system`, `result` and `stream_event`: the protocol with the controlling program."""

_SYSTEM_DATA = Fields(
    StreamRecord,
    "cwd",
    "model",
    "permission_mode",
    "claude_code_version",
    "tool_name",
    "tool_use_id",
    "task_id",
    "task_type",
    "last_tool_name",
    "patch",
    "hook_name",
    "hook_event",
    "exit_code",
    "outcome",
    "attempt",
    "max_retries",
    "retry_delay_ms",
    "error_status",
    "estimated_tokens",
    "trigger",
    "original_model",
    "fallback_model",
    "new_conversation_id",
)
_SYSTEM_TEXTS = ("content", "message", "text", "summary", "description", "title", "status_detail", "status", "output")
_RESULT_DATA = Fields(
    StreamRecord, "subtype", "is_error", "num_turns", "duration_ms", "total_cost_usd", "stop_reason", "errors"
)
_COMPACTION_DATA = Fields(StreamCompactMetadata, "trigger", "pre_tokens", "post_tokens", "duration_ms")


_decode = msgspec.json.Decoder(StreamRecord).decode


class ClaudeStreamFormat(ClaudeFormat):
    """The stream of one process."""

    name = "claude_stream"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._partials: dict[str, Partial] = {}
        """The partial message of each source, by the call that spawned it."""
        self._agents: dict[str, str] = {}
        """The ids of subagents by the call that spawned them."""
        self._has_failed = False
        """Whether this turn has reported an error already; its result repeats it."""
        self._cost = 0.0
        """Dollars of the process so far, as its last turn says."""

    def _decode(self, line: bytes) -> Any:
        return _decode(line)

    def _convert(self, value: Any) -> Any:
        # --output-format json --verbose prints the whole stream as one array.
        return value if isinstance(value, list) else record_from(value, StreamRecord)

    def _map(self, record: Any) -> None:
        if isinstance(record, list):
            self._array(record)
            return
        if record is None:
            return  # not a record: the base keeps it as unknown
        self._locate(record)
        kind = record.type
        if kind == "stream_event":
            self._stream_event(record)
        elif kind == "assistant":
            self._whole(record)
        elif kind == "user":
            self._user(message_of(record).content, record.tool_use_result, is_harness=record.is_synthetic is True)
        elif kind == "system":
            self._system_line(record)
        elif kind == "result":
            self._turn(record)
        elif isinstance(kind, str) and kind in KNOWN_TYPES:
            self._system(kind, None, _SYSTEM_DATA.of(record))

    def _array(self, values: list[Any]) -> None:
        """Map every record of an array; each leads to an event or is accumulated, as if it were a line."""
        for value in values:
            before = len(self._out), self.report.accumulated
            self._origin = None
            self._map(record_from(value, StreamRecord))
            if (len(self._out), self.report.accumulated) == before:
                self._unknown(value, value.get("type") if isinstance(value, dict) else None)

    def _locate(self, record: StreamRecord) -> None:
        session_id = string(record.session_id) if self.context.session_id is None else None
        call_id = string(record.parent_tool_use_id)
        if call_id is None:
            self._place(record.timestamp, session_id=session_id)
            return
        agent_id = string(record.agent_id)
        if agent_id is not None:
            self._agents[call_id] = agent_id
        source = f"subagent:{self._agents.get(call_id, call_id)}"
        # Only agents that the main agent spawned are forwarded.
        self._place(
            record.timestamp, source=source, session_id=session_id, parent_source="main", parent_call_id=call_id
        )

    def _whole(self, record: StreamRecord) -> None:
        message = message_of(record)
        partial = self._partials.get(a_str(record.parent_tool_use_id))
        if partial is not None:
            partial.drop(message)
        before = len(self._out)
        self._assistant(record, message)
        self._has_failed = self._has_failed or any(event.type == "error" for event in self._out[before:])

    def _system_line(self, record: StreamRecord) -> None:
        subtype = a_str(record.subtype) or "system"
        if subtype == "task_started" and record.task_type == "local_agent":
            call_id, agent_id = string(record.tool_use_id), string(record.task_id)
            if call_id is not None and agent_id is not None:
                self._agents[call_id] = agent_id
        if subtype == "compact_boundary":
            metadata = record.compact_metadata
            facts = _COMPACTION_DATA.of(metadata) if isinstance(metadata, StreamCompactMetadata) else None
            self._system("compaction", record.content, {"part": "boundary", **(facts or {})})
            return
        texts = (getattr(record, name) for name in _SYSTEM_TEXTS)
        text = next((found for each in texts if (found := string(each)) is not None), None)
        self._system(subtype, text or string(record.stderr), _SYSTEM_DATA.of(record))
        if subtype == "init":
            self._define(record.tools)

    def _turn(self, record: StreamRecord) -> None:
        """The end of a turn: its result repeats the last answer, its usage is the turn's."""
        self._flush()
        self._system("result", record.result, _RESULT_DATA.of(record))
        if record.is_error is True and not self._has_failed:
            errors = record.errors if isinstance(record.errors, list) else []
            said = "\n".join(each for each in errors if isinstance(each, str))
            code = string(record.subtype)
            message = string(record.result) or said or code or "The turn failed."
            self._emit("error", ErrorPayload(message=message, code=code))
        self._has_failed = False
        if record.usage is not None:
            usage = self._usage_of(record.usage, scope="turn", cost_usd=self._cost_of_turn(record.total_cost_usd))
            if usage.input_tokens or usage.output_tokens:  # a local command calls no model
                self._emit("token.usage", usage)

    def _cost_of_turn(self, total: Any) -> float | None:
        """What the total of the process grew by since the last turn."""
        cost = dollars(total)
        if cost is None:
            return None
        before, self._cost = self._cost, cost
        return round(cost - before, 9) if cost >= before else cost

    # Partial messages.

    def _stream_event(self, record: StreamRecord) -> None:
        event = record.event if isinstance(record.event, dict) else {}
        key = a_str(record.parent_tool_use_id)
        if event.get("type") == "message_start":
            self._flush(key)
        partial = self._partials.get(key)
        if partial is None:
            partial = self._partials[key] = Partial()
        partial.take(event, self._origin)
        usage = partial.usage()
        is_final = event.get("type") == "message_delta" and usage is not None
        if not (is_final and usage is not None and self._call_usage(usage, partial.model, partial.message_id)):
            self._accumulate()

    def _flush(self, key: str | None = None) -> None:
        """Emit what was streamed and never came whole: of one source, or of all."""
        keys = list(self._partials) if key is None else [key]
        for each in keys:
            partial = self._partials.pop(each, None)
            blocks = [] if partial is None else partial.blocks()
            if partial is None or not blocks:
                continue
            self.report.accumulated -= 1  # its latest piece then counts as having an event
            here, raw = self._origin, self._raw
            self._origin, self._raw = partial.place, None
            message = ClaudeMessage(id=partial.message_id, model=partial.model, stop_reason=partial.stop_reason)
            self._answer(blocks, message)
            self._origin, self._raw = here, raw

    def _finish(self) -> None:
        self._flush()
