"""The records of a `wire.jsonl` as events.

Theory of operation. The file is a log of what changed in the agent's state. A step is one model call: its parts and
calls come one by one and name the step, which is the id of the message. Tokens are written three times; they are taken
from the first, right after the request, because an interrupted step has only that one. At the end of a turn every
message is written again (`agent.message.appended`): these are noted as repeated. Only the request has the model's own
name; other records have an alias that the user chose.
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.kimi_code.content import USAGE, blocks_in, error_of, part_of, result_of
from stenograph.formats.kimi_code.vocabulary import KNOWN_TYPES
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import a_dict, a_str, first_str, time_text
from stenograph.formats.shared.model_api.parts import plain_text
from stenograph.formats.shared.tool_definitions import ToolDefinitions
from stenograph.model.block import Block, ToolUseBlock
from stenograph.model.payload import MessagePayload, SystemPayload, UsagePayload

_ENVELOPE = ("type", "agentId", "time", "kind")
_PEOPLE = ("user", "system_trigger", "skill_activation", "steer", "retry", "cron_job")
"""Origins of a message that is a task: from a person, or from an agent to its subagent."""
_CALLING = "loop"


class KimiCodeFormat(LineFormat):
    """One `wire.jsonl`: of the main agent, or of a subagent."""

    name = "kimi_code"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._tools = ToolDefinitions()
        self._calls: dict[str, str] = {}
        self._model: str | None = None
        self._step: str | None = None
        """The id of the message that answers the last request; None outside a step."""
        self._counted: UsagePayload | None = None
        self._has_spoken = False

    def _map(self, record: Any) -> None:
        if not isinstance(record, dict):
            return
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in KNOWN_TYPES:
            return
        self._place(time_text(record.get("time", record.get("created_at"))))
        act = _ACTS.get(kind)
        if act is None:
            self._note(kind, None, _facts(record))
        else:
            getattr(self, act)(record)

    def _note(self, subtype: str, text: str | None = None, data: Any = None) -> None:
        self._emit("system.event", SystemPayload(subtype=subtype, text=text or None, data=data or None))

    # Settings, tools and requests.

    def _profile(self, record: dict[str, Any]) -> None:
        facts = _facts(record)
        self._note("system_prompt", a_str(facts.pop("systemPrompt", None)), facts)

    def _definitions(self, record: dict[str, Any]) -> None:
        definitions = self._tools.changed(record.get("tools"))
        if definitions is None:
            self._note("llm.tools_snapshot", None, {"hash": record.get("hash")})
        else:
            self._emit("system.event", definitions)

    def _request(self, record: dict[str, Any]) -> None:
        self._model = first_str(record, "model")
        if record.get("kind") != _CALLING:
            self._step = None
        # `kind` is the request's own here, and not the envelope's.
        self._note("llm.request", first_str(record, "model"), _facts(record) | {"kind": record.get("kind")})

    def _repeated(self, record: dict[str, Any]) -> None:
        message = a_dict(a_dict(record.get("message")).get("message"))
        self._note("repeated", None, {"type": record["type"], "role": message.get("role")})

    # What is said.

    def _message(self, record: dict[str, Any]) -> None:
        message = a_dict(record.get("message"))
        role, origin = message.get("role"), a_dict(message.get("origin"))
        blocks, name = tuple(blocks_in(message.get("content"))), first_str(message, "id")
        kind = origin.get("kind")
        if role == "user" and (not origin or kind in _PEOPLE):
            self._emit("message.user", MessagePayload(role="user", blocks=blocks, message_id=name))
        elif role == "assistant":
            self._emit("message.assistant", MessagePayload(role="assistant", blocks=blocks, message_id=name))
        else:
            self._note("injection", plain_text(message.get("content")), {"role": role, **origin})

    def _loop(self, record: dict[str, Any]) -> None:
        event = a_dict(record.get("event"))
        act = _LOOP_ACTS.get(a_str(event.get("type")))
        if act is None:
            self._note("loop_event", None, event)
        else:
            getattr(self, act)(event)

    def _begin(self, event: dict[str, Any]) -> None:
        self._step, self._counted, self._has_spoken = first_str(event, "uuid"), None, False
        self._note("step.begin", None, {"step": event.get("step"), "turnId": event.get("turnId")})

    def _part(self, event: dict[str, Any]) -> None:
        block = part_of(event.get("part"))
        self._say(event, [] if block is None else [block])

    def _say(self, event: dict[str, Any], blocks: list[Block], stop_reason: str | None = None) -> None:
        self._has_spoken = True
        name = first_str(event, "stepUuid", "uuid")
        self._emit(
            "message.assistant",
            MessagePayload(
                role="assistant", blocks=tuple(blocks), model=self._model, message_id=name, stop_reason=stop_reason
            ),
        )

    def _call(self, event: dict[str, Any]) -> None:
        call_id, name = a_str(event.get("toolCallId")), a_str(event.get("name"))
        block = ToolUseBlock(fidelity="agent_emitted", tool_name=name, tool_id=call_id, tool_input=event.get("args"))
        self._calls[call_id] = name
        self._say(event, [block])
        self._emit("tool.call", call_of(block))

    def _result(self, event: dict[str, Any]) -> None:
        call_id = a_str(event.get("toolCallId"))
        self._emit("tool.result", result_of(call_id, self._calls.pop(call_id, ""), a_dict(event.get("result"))))

    def _end(self, event: dict[str, Any]) -> None:
        """The end of a step; if it has no answer, the turn says how it ended."""
        reason, before = first_str(event, "finishReason"), len(self._out)
        if self._has_spoken and reason is not None:
            self._say(event, [], reason)
        self._count(event.get("usage"), first_str(event, "uuid"))
        if len(self._out) == before:
            self._note("step.end", reason, {"step": event.get("step"), "turnId": event.get("turnId")})
        self._step = None

    # Tokens, and how it ended.

    def _usage(self, record: dict[str, Any]) -> None:
        before = len(self._out)
        self._count(record.get("usage"), self._step)
        if len(self._out) == before:
            self._note("usage.record", None, _facts(record))

    def _count(self, usage: Any, message_id: str | None) -> None:
        """Emit the tokens of a call, unless they were emitted before."""
        counted = USAGE.read(usage, model=self._model, message_id=message_id)
        if counted is not None and (counted != self._counted or message_id is None):
            self._counted = counted
            self._emit("token.usage", counted)

    def _ended(self, record: dict[str, Any]) -> None:
        if error := a_dict(record.get("error")):
            self._emit("error", error_of(error))
        self._note("turn.ended", first_str(record, "reason"), _facts(record))

    def _compacted(self, record: dict[str, Any]) -> None:
        facts = _facts(record)
        summary = facts.pop("contextSummary", None) or facts.pop("summary", None)
        text = summary if isinstance(summary, str) else plain_text(a_dict(summary).get("content"))
        self._note("compaction", text, facts)


_ACTS = {
    "profile.bind": "_profile",
    "llm.tools_snapshot": "_definitions",
    "llm.request": "_request",
    "agent.message.appended": "_repeated",
    "context.append_message": "_message",
    "context.append_loop_event": "_loop",
    "context.apply_compaction": "_compacted",
    "usage.record": "_usage",
    "turn.ended": "_ended",
}
_LOOP_ACTS = {
    "step.begin": "_begin",
    "content.part": "_part",
    "tool.call": "_call",
    "tool.result": "_result",
    "step.end": "_end",
}


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a record besides those that all records have."""
    return {name: value for name, value in record.items() if name not in _ENVELOPE and value is not None}
