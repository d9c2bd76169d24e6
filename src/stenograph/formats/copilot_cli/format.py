"""Copilot's records to events, as its session files and its stream share them.

Theory of operation. Two things are written twice and emitted once. A call is in the message that asks for it and again
when it starts: the first one gives `tool.call`. A thought is in its message and, in some files and in the stream,
alone. A subagent's records are interleaved with its parent's and name it by `agentId` (files without it name the call
that spawned the agent). Ids of calls and answers are the provider's: small local ones reuse them, so an answered call
may be called again, and a second usage under an id gets a key of its own.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from stenograph.formats.base import Context, LineFormat
from stenograph.formats.copilot_cli import content
from stenograph.formats.copilot_cli.record import Data, Record, Usage, record_from
from stenograph.formats.copilot_cli.vocabulary import KNOWN_TYPES
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.loose import small, string, time_text
from stenograph.model.block import Block, TextBlock, ThinkingBlock, ToolUseBlock
from stenograph.model.payload import MessagePayload, SystemPayload, ToolPayload

_decode = msgspec.json.Decoder(Record).decode


class Agent(Struct, frozen=True):
    """A subagent, and who spawned it by which call."""

    source: str
    parent_source: str
    parent_call_id: str | None


class CopilotFormat(LineFormat):
    """What the file and the stream have in common."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._session_id: str | None = None
        self._source = context.source
        self._agents: dict[str, Agent] = {}
        self._callers: dict[str, str] = {}
        """Which source made a call."""
        self._open: dict[str, ToolPayload] = {}
        """Calls that were emitted and not answered."""
        self._thoughts: dict[str, str] = {}
        """The thought in the last message of each source, until it is repeated."""
        self._alone: dict[str, str] = {}
        """The thought that each source had alone, until a message repeats it."""
        self._answers: set[str] = set()
        """Answers of the model whose message was emitted, by the provider's id."""
        self._billed: dict[str, str | None] = {}
        """Answers whose usage was emitted, with their stop reasons."""

    def _decode(self, line: bytes) -> Any:
        return _decode(line)

    def _convert(self, value: Any) -> Any:
        return record_from(value)

    def _map(self, record: Record | None) -> None:
        if record is None or not isinstance(record.data, Data):
            return  # not a record: the base keeps it as unknown
        kind, data = record.type, record.data
        if kind.__class__ is not str:
            return
        self._locate(record, data, kind)
        act = _ACTS.get(kind)
        if act is not None:
            getattr(self, act)(data)  # by name: the stream overrides some
        elif kind in KNOWN_TYPES:
            self._emit("system.event", content.notice_of(kind, data))

    def _locate(self, record: Record, data: Data, kind: str) -> None:
        """Set source and time of a record; the time is text, or milliseconds in some files."""
        time = record.timestamp if record.timestamp.__class__ is str else time_text(record.timestamp)
        call_id = string(data.parent_tool_call_id)
        if kind.startswith("subagent."):
            call_id = string(data.tool_call_id)
        agent_id = string(record.agent_id) or call_id
        if agent_id is None:
            self._source = self.context.source
            self._place(time, session_id=self._session_id)
            return
        agent = self._agents.get(agent_id)
        if agent is None or (agent.parent_call_id is None and call_id is not None):
            spawner = self._callers.get(call_id or "", "main")
            agent = self._agents[agent_id] = Agent(f"subagent:{agent_id}", spawner, call_id)
        self._source = agent.source
        self._place(
            time,
            source=agent.source,
            session_id=self._session_id,
            parent_source=agent.parent_source,
            parent_call_id=agent.parent_call_id,
        )

    # What is said.

    def _user(self, data: Data) -> None:
        """A prompt; texts of the harness under the same type become system events."""
        origin = string(data.source) or "user"
        is_task = origin.startswith("agent-") and self._source != "main"
        if data.is_autopilot_continuation is True or not (origin == "user" or is_task):
            self._emit("system.event", content.notice_of("user.message", data))
            return
        blocks = content.user_blocks(data)
        self._emit("message.user", MessagePayload(role="user", blocks=blocks, message_id=string(data.message_id)))

    def _assistant(self, data: Data) -> None:
        thought = string(data.reasoning_text)
        was_emitted = thought is not None and self._alone.pop(self._source, None) == thought
        blocks: list[Block] = [*content.thinking_of(data, "" if was_emitted else thought)]
        self._thoughts[self._source] = thought or ""
        if string(data.content) is not None:
            blocks.append(TextBlock(fidelity="agent_emitted", text=data.content))
        requests = content.requests_of(data)
        stop_reason = self._billed.get(string(data.api_call_id) or "")
        self._say([*blocks, *requests], self._name(data), string(data.model), stop_reason)
        for request in requests:
            self._call(request)

    def _say(
        self, blocks: list[Block], message_id: str | None, model: str | None = None, stop_reason: str | None = None
    ) -> None:
        payload = MessagePayload(
            role="assistant", blocks=tuple(blocks), model=model, message_id=message_id, stop_reason=stop_reason
        )
        self._emit("message.assistant", payload)

    def _name(self, data: Data) -> str | None:
        """The answer's id, which its chunks and its usage share; the message's own id when that is not unique."""
        answer = string(data.api_call_id)
        if answer is None or (answer in self._answers and data.chunk_count is None):
            return string(data.message_id)
        self._answers.add(answer)
        return answer

    def _reasoning(self, data: Data) -> None:
        """Emit a thought outside a message."""
        thought = string(data.content)
        if thought is None:
            self._emit("system.event", content.notice_of("assistant.reasoning", data))
        elif self._thoughts.pop(self._source, None) == thought:
            self._repeated("assistant.reasoning")
        else:
            self._alone[self._source] = thought
            self._say([ThinkingBlock(fidelity="agent_emitted", thinking=thought)], string(data.reasoning_id))

    def _repeated(self, kind: str) -> None:
        """Emit that a record holds nothing new."""
        self._emit("system.event", SystemPayload(subtype="repeated", data={"type": kind}))

    # What is done.

    def _call(self, request: ToolUseBlock) -> bool:
        """Emit a call unless it was emitted and still waits for its answer; whether it was emitted."""
        call_id = request.tool_id
        if call_id and call_id in self._open:
            return False
        payload = call_of(request)
        if call_id:
            self._open[call_id] = payload
            self._callers[call_id] = self._source
        self._emit("tool.call", payload)
        return True

    def _started(self, data: Data) -> None:
        call_id, name = string(data.tool_call_id) or "", string(data.tool_name) or ""
        request = ToolUseBlock(fidelity="agent_emitted", tool_name=name, tool_id=call_id, tool_input=data.arguments)
        if self._call(request):
            return
        asked = self._open[call_id].input
        changed = None if data.arguments == asked else data.arguments
        facts = small((("toolCallId", call_id), ("toolName", name or None), ("arguments", changed)))
        self._emit("system.event", SystemPayload(subtype="tool.execution_start", data=facts))

    def _completed(self, data: Data) -> None:
        call_id = string(data.tool_call_id) or ""
        call = self._open.pop(call_id, None)
        self._emit("tool.result", content.result_of(data, "" if call is None else call.name, self._streamed(data)))

    def _streamed(self, data: Data) -> str | None:
        """All that a command printed, if its result does not hold it; only the stream has it."""
        return None

    # Tokens, and how it ended.

    def _usage(self, data: Data) -> None:
        usage = data.usage if isinstance(data.usage, Usage) else Usage()
        answer = string(usage.api_call_id)
        key = answer if answer is None or answer not in self._billed else f"{answer}:{self.report.lines}"
        payload = content.usage_of(usage, key)
        if payload is None:
            self._emit("system.event", content.notice_of("session.usage_record", data))
            return
        if answer is not None:
            self._billed[answer] = string(usage.finish_reason)
        self._emit("token.usage", payload)

    def _session(self, data: Data) -> None:
        self._session_id = string(data.session_id) or self._session_id
        self._emit("system.event", content.notice_of("session.start", data))

    def _shutdown(self, data: Data) -> None:
        """The end of a process, not of the session; its totals are the session's so far."""
        self._emit("system.event", content.notice_of("session.shutdown", data))
        total = content.total_of(data.model_metrics)
        if total is not None:
            self._emit("token.usage", total)

    def _error(self, data: Data) -> None:
        self._emit("error", content.error_of(data))

    def _compacted(self, data: Data) -> None:
        subtype = "session.compaction_complete" if data.success is False else "compaction"
        self._emit("system.event", content.notice_of(subtype, data))


class CopilotCliFormat(CopilotFormat):
    """One `events.jsonl`."""

    name = "copilot_cli"


_ACTS = {
    "user.message": "_user",
    "assistant.message": "_assistant",
    "assistant.reasoning": "_reasoning",
    "tool.execution_start": "_started",
    "tool.user_requested": "_started",
    "tool.execution_complete": "_completed",
    "session.usage_record": "_usage",
    "session.start": "_session",
    "session.shutdown": "_shutdown",
    "session.error": "_error",
    "session.compaction_complete": "_compacted",
}
