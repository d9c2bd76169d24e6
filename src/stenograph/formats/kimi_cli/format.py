"""The records of a `wire.jsonl` as events.

Theory of operation. The file is what the program sent to its user interface. A step is one model call; its parts, calls
and tokens come one by one, so they are one message by the time at which the step began, which a fork copies. What a
subagent does is in the session's file, within `SubagentEvent`, and in a file of its own. If that exists, it is emitted
from there, and what was emitted from the session's file before is known by its keys.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.kimi_cli.content import USAGE, blocks_in, part_of, result_of
from stenograph.formats.kimi_cli.detection import is_record
from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import a_dict, a_str, a_time, first_str
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.payload import ErrorPayload, MessagePayload, SystemPayload

_TYPES = frozenset(
    {
        *("TurnBegin", "SteerInput", "TurnEnd", "StepBegin", "StepInterrupted", "StepRetry", "CompactionBegin"),
        *("CompactionEnd", "HookTriggered", "HookResolved", "MCPLoadingBegin", "MCPLoadingEnd", "BtwBegin", "BtwEnd"),
        *("StatusUpdate", "Notification", "PlanDisplay", "ContentPart", "TextPart", "ThinkPart", "ToolCall"),
        *("ToolCallPart", "ToolResult", "SubagentEvent", "ApprovalRequest", "ApprovalResponse", "QuestionRequest"),
        *("QuestionResponse", "ToolCallRequest", "HookRequest", "HookResponse", "ApprovalRequestResolved"),
    }
)
_DEEPEST = 8
"""Subagents of subagents, and so on."""
_encode = msgspec.json.Encoder(order="deterministic").encode


class KimiCliFormat(LineFormat):
    """One `wire.jsonl`: of a session, or of a subagent."""

    name = "kimi_cli"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._steps: dict[str, str] = {}
        """The current message of each source."""
        self._calls: dict[str, str] = {}
        self._met: Counter[int] = Counter()
        self.subagent_keys: dict[str, set[int]] = {}
        """The keys of subagents' records that were emitted from this file, by source."""

    def _map(self, record: Any) -> None:
        if not isinstance(record, dict):
            return
        if record.get("type") == "metadata":
            self._place()
            self._note("metadata", None, {"protocol_version": record.get("protocol_version")})
        elif is_record(record):
            message = record["message"]
            if self.context.already and self._key(self.context.source, message) in self.context.already:
                self._place(a_time(record["timestamp"]))
                self._note("repeated", None, {"type": message["type"]})
            else:
                self._emit_message(message, record["timestamp"], self.context.source, {})

    def _key(self, source: str, message: dict[str, Any]) -> int:
        """What identifies a subagent's record in both files: its content, and how often that occurred."""
        said = digest_of("wire", source.encode("utf-8", "backslashreplace") + b"\n" + _encoded(message))
        self._met[said] += 1
        return digest_of("nth", f"{said}:{self._met[said]}")

    def _emit_message(self, message: dict[str, Any], time: float, source: str, parent: dict[str, Any]) -> None:
        kind, payload = message["type"], message["payload"]
        self._place(a_time(time), source=source, **parent)
        if kind not in _TYPES:
            self._unknown(message, kind)
        elif (act := _ACTS.get(kind)) is None:
            self._note(kind, None, payload)
        else:
            getattr(self, act)(payload, time, source)

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data or None))

    # What is said.

    def _prompt(self, payload: dict[str, Any], time: float, source: str) -> None:
        blocks = tuple(blocks_in(payload.get("user_input")))
        self._emit("message.user", MessagePayload(role="user", blocks=blocks))

    def _begin(self, payload: dict[str, Any], time: float, source: str) -> None:
        self._steps[source] = f"step-{time!r}"
        self._note("StepBegin", None, payload)

    def _part(self, payload: dict[str, Any], time: float, source: str) -> None:
        block = part_of(payload)
        self._say(source, [] if block is None else [block])

    def _say(self, source: str, blocks: list[Block]) -> None:
        payload = MessagePayload(role="assistant", blocks=tuple(blocks), message_id=self._steps.get(source))
        self._emit("message.assistant", payload)

    def _call(self, payload: dict[str, Any], time: float, source: str) -> None:
        function = a_dict(payload.get("function"))
        call_id, name = a_str(payload.get("id")), a_str(function.get("name"))
        block = ToolUseBlock(
            fidelity="agent_emitted",
            tool_name=name,
            tool_id=call_id,
            tool_input=arguments_of(function.get("arguments")),
        )
        self._calls[call_id] = name
        self._say(source, [block])
        self._emit("tool.call", call_of(block))

    def _result(self, payload: dict[str, Any], time: float, source: str) -> None:
        call_id = a_str(payload.get("tool_call_id"))
        name = self._calls.pop(call_id, "")
        self._emit("tool.result", result_of(call_id, name, a_dict(payload.get("return_value"))))

    # Tokens, and how it ended.

    def _status(self, payload: dict[str, Any], time: float, source: str) -> None:
        usage = USAGE.read(payload.get("token_usage"), message_id=self._steps.get(source))
        if usage is None:
            self._note("StatusUpdate", None, payload)
        else:
            self._emit("token.usage", usage)

    def _interrupted(self, payload: dict[str, Any], time: float, source: str) -> None:
        """A step that an error ended: the program shows the error to its user, but does not write it to the file."""
        self._emit("error", ErrorPayload(message="the step failed; kimi-cli does not keep why", code="StepInterrupted"))

    # Subagents.

    def _subagent(self, payload: dict[str, Any], time: float, source: str) -> None:
        inner, agent = a_dict(payload.get("event")), first_str(payload, "agent_id")
        call_id = first_str(payload, "parent_tool_call_id", "task_tool_call_id")
        child = f"subagent:{agent or call_id}"
        is_whole = bool(a_str(inner.get("type"))) and isinstance(inner.get("payload"), dict)
        if not is_whole or not (agent or call_id) or source.count("subagent:") >= _DEEPEST:
            self._note("SubagentEvent", None, payload)
        elif child in self.context.separate:
            self._note("SubagentEvent", None, {"agent_id": agent, "type": inner["type"]})
        else:
            self.subagent_keys.setdefault(child, set()).add(self._key(child, inner))
            self._emit_message(inner, time, child, {"parent_source": source, "parent_call_id": call_id})


def _encoded(message: dict[str, Any]) -> bytes:
    try:
        return _encode(message)
    except UnicodeEncodeError:  # a lone surrogate
        return repr(message).encode("utf-8", "backslashreplace")


_ACTS = {
    "TurnBegin": "_prompt",
    "SteerInput": "_prompt",
    "StepBegin": "_begin",
    "ContentPart": "_part",
    "TextPart": "_part",
    "ThinkPart": "_part",
    "ToolCall": "_call",
    "ToolResult": "_result",
    "StatusUpdate": "_status",
    "StepInterrupted": "_interrupted",
    "SubagentEvent": "_subagent",
}
