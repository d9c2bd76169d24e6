"""A run as a trace of spans, in the JSON form of OTLP.

A run is one trace. The agent and each subagent are spans, and so are every model answer and every tool call; other
events are events of the agent's span. A run records points in time, so an answer begins where the item before it
ended; the attribute `stenograph.time` of the agent's span says that times are derived.

Ids are derived from the run's id and from what does not change when the run grows or is read elsewhere: the place of an
answer (`transcript.line`) and the id of a call. So a run that is sent twice is the same trace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from stenograph.export.otlp_message import OtlpMessage, answer_of, finish_reason, flat, prompt_of, response_of
from stenograph.export.usage_names import GENAI, OPENINFERENCE, named
from stenograph.export.wording import function_tools, json_text, notice_text, result_text, text_of
from stenograph.fold.conversation import ChatRules, account_for_run, conversation
from stenograph.fold.exchange import Call, Notice, Thread, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model import mend
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import ErrorPayload, SystemPayload
from stenograph.transcript.line import Lines

_NOTICES = frozenset({"system events", "errors", "lifecycle events", "unknown events", "results"})
"""The notices that become events of a span, as the loss report names them."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = (1 << 64) - 1
"""The largest time in nanoseconds that the protocol can hold, in the year 2554."""
_LARGEST = (1 << 63) - 1
"""The largest integer that the protocol can hold."""
_PROVIDERS = (
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "gcp.gemini"),
)
INTERNAL, CLIENT = 1, 3
ERROR = 2


class Trace:
    """The spans of one run."""

    def __init__(self, events: Iterable[Event], report: LossReport, content: str, vocabulary: str) -> None:
        """The options of the exporter decide what spans have and how it is named.

        `content` is `delta` (an answer's span has the messages since the answer before), `full` (all messages so far)
        or `none` (no words: no messages, arguments, results, tool definitions or texts of errors). `vocabulary` is
        `genai` or `openinference`.
        """
        self._places: dict[int, str] = {}
        run = self._run = exchange(self._placed(events))
        account_for_run(run, report, totals=True)
        self._report = report
        self._content = content
        self._is_genai = vocabulary == "genai"
        self._trace_id = hashlib.sha256(f"stenograph {run.run_id}".encode()).hexdigest()[:32]
        self._agent = run.adapter.partition("_")[0] or "stenograph"
        times = [_nanoseconds(item.at) for thread in run.threads for item in thread.items if item.at is not None]
        self._start = min(times, default=0)
        self._rules = ChatRules(
            thinking=lambda block: None if block.thinking else "encrypted",
            attachments=lambda block, _place: None if block.data else "without data",
            notices=_NOTICES,
            usage=True,
            every_system_prompt=True,
            texts=content != "none",
        )
        self.unsettled: set[str] = set()
        """After `spans`: the ids of spans that more events of the run would change. These are the spans of agents, of
        the last answer of each, and of calls without a result."""

    def _placed(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, unchanged; on the way, the places of answers are kept for the ids of their spans."""
        lines = Lines()
        for number, event in enumerate(events, 1):
            lines.of(event, event.source)
            if event.type == "message.assistant":
                self._places[event.seq or number] = lines.place(0)
            yield event

    def spans(self) -> list[dict[str, Any]]:
        """The spans of the main agent, then those of each subagent."""
        found = list(self._thread(self._run.main, None))
        for thread in self._run.subagents:
            self._report.carry("subagents")
            found += self._thread(thread, self._parent_of(thread))
        return found

    def _parent_of(self, thread: Thread) -> str:
        sources = {each.source: each for each in self._run.threads}
        for source in (thread.parent_source, *sources):
            above = sources.get(source or "")
            if above is None or above is thread:
                continue
            calls = [call.call_id for turn in above.turns for call in turn.calls]
            if thread.parent_call_id and thread.parent_call_id in calls:
                return self._span_id("tool", f"{above.source} {thread.parent_call_id}")
        return self._span_id("agent", "main")

    def _span_id(self, kind: str, key: str) -> str:
        return hashlib.sha256(f"{self._run.run_id} {kind} {key}".encode("utf-8", "replace")).hexdigest()[:16]

    def _thread(self, thread: Thread, parent: str | None) -> Iterator[dict[str, Any]]:
        own = self._span_id("agent", thread.source)
        below: list[dict[str, Any]] = []
        events: list[dict[str, Any]] = []
        history: list[OtlpMessage] = []
        sent = 0  # how many messages of the history are in the spans so far
        clock = self._start
        stamps: list[int] = []
        failure: str | None = None
        prompt: str | None = None
        last = max((turn.seq for turn in thread.turns if turn.records), default=0)
        self.unsettled.add(own)
        for item in conversation(thread.items, self._report, self._rules):
            at = clock if item.at is None else _nanoseconds(item.at)
            stamps.append(at)
            if isinstance(item, Notice):
                events.append(self._event(item, at))
                payload = item.event.payload
                failure = payload.message if isinstance(payload, ErrorPayload) else failure
                clock = max(clock, at)
                continue
            failure = None
            if item.role == "user":
                prompt = item.system_prompt or prompt
                if item.blocks:
                    history.append(prompt_of(item))
                clock = max(clock, at)
                continue
            if item.records:
                end = max(at, clock if item.ended_at is None else _nanoseconds(item.ended_at))
                inputs = history if self._content == "full" else history[sent:]
                below.append(self._chat(item, thread, own, min(clock, at), end, inputs, prompt))
                if item.seq >= last:
                    self.unsettled.add(below[-1]["spanId"])
                history.append(answer_of(item))
                sent, prompt, clock = len(history), None, max(clock, end)
            for call in item.calls:
                span = self._tool(call, thread, own, clock)
                below.append(span)
                clock = max(clock, int(span["endTimeUnixNano"]))
                if call.has_result:
                    history.append(response_of(call))
            stamps.append(clock)
        if history[sent:] and self._content != "none":  # these were not answered, so no other span has them
            text = json_text(history[sent:])
            events.append(_span_event("stenograph.unanswered", clock, {"gen_ai.input.messages": text}))
        if thread is self._run.main:
            events += [self._usage(payload, clock) for _, payload in self._run.loose_usage]
        if prompt is not None and self._content != "none":
            events.append(_span_event("stenograph.system_prompt", clock, {"text": prompt}))
        span = self._span("agent", thread.source, parent, f"invoke_agent {self._name_of(thread)}", INTERNAL)
        start = min(stamps, default=self._start)
        span |= _times(start, max([*stamps, start]))
        span["attributes"] = attributes_of(self._agent_facts(thread, history))
        if events:
            span["events"] = events
        if failure is not None:
            span["status"] = {"code": ERROR, "message": failure if self._content != "none" else ""}
        yield span
        yield from below

    def _name_of(self, thread: Thread) -> str:
        return self._agent if thread is self._run.main else thread.source

    def _span(self, kind: str, key: str, parent: str | None, name: str, span_kind: int) -> dict[str, Any]:
        span: dict[str, Any] = {"traceId": self._trace_id, "spanId": self._span_id(kind, key)}
        if parent is not None:
            span["parentSpanId"] = parent
        return span | {"name": name, "kind": span_kind}

    def _session(self) -> dict[str, Any]:
        name = "gen_ai.conversation.id" if self._is_genai else "session.id"
        return {name: self._run.session_id} if self._run.session_id else {}

    def _agent_facts(self, thread: Thread, history: list[OtlpMessage]) -> dict[str, Any]:
        facts: dict[str, Any] = self._session() | {"stenograph.run_id": self._run.run_id, "stenograph.time": "derived"}
        if self._run.parent_run_id:
            facts["stenograph.parent_run_id"] = self._run.parent_run_id
        ends = [history[0], history[-1]] if history and self._content != "none" else []
        tools = function_tools(self._run) if self._content != "none" else None
        if self._is_genai:
            facts |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": self._name_of(thread)}
            facts["gen_ai.provider.name"] = _provider(self._run.model)
            if self._run.model:
                facts["gen_ai.request.model"] = self._run.model
            if ends:
                facts["gen_ai.input.messages"] = json_text(ends[:1])
                facts["gen_ai.output.messages"] = json_text(ends[1:])
            if tools:
                facts["gen_ai.tool.definitions"] = json_text(tools)
            return facts
        facts |= {"openinference.span.kind": "AGENT", "agent.name": self._name_of(thread)}
        if ends:
            facts |= {"input.value": json_text(ends[0]), "input.mime_type": "application/json"}
            facts |= {"output.value": json_text(ends[1]), "output.mime_type": "application/json"}
        return facts

    def _chat(
        self,
        turn: Turn,
        thread: Thread,
        parent: str,
        start: int,
        end: int,
        inputs: list[OtlpMessage],
        prompt: str | None,
    ) -> dict[str, Any]:
        model = turn.model or "unknown"
        key = f"{thread.source} {self._places[turn.seq]}"
        span = self._span("chat", key, parent, f"chat {model}", CLIENT) | _times(start, end)
        facts = self._session() | (self._genai_chat(turn) if self._is_genai else self._openinference_chat(turn))
        if turn.stop_reason:
            facts["stenograph.stop_reason"] = turn.stop_reason
        if len(turn.usages) > 1:
            facts["stenograph.model_calls"] = len(turn.usages)
        if self._content != "none":
            answer = answer_of(turn)
            if self._is_genai:
                facts["gen_ai.input.messages"] = json_text(inputs)
                facts["gen_ai.output.messages"] = json_text([answer])
                if prompt is not None:
                    facts["gen_ai.system_instructions"] = json_text([{"type": "text", "content": prompt}])
            else:
                system = [] if prompt is None else [{"role": "system", "parts": [{"type": "text", "content": prompt}]}]
                facts |= flat("llm.input_messages", [*system, *inputs]) | flat("llm.output_messages", [answer])
                facts |= {"output.value": text_of(turn.blocks), "output.mime_type": "text/plain"}
        span["attributes"] = attributes_of(facts)
        return span

    def _genai_chat(self, turn: Turn) -> dict[str, Any]:
        facts: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": _provider(turn.model)}
        if turn.model:
            facts |= {"gen_ai.request.model": turn.model, "gen_ai.response.model": turn.model}
        if turn.message_id:
            facts["gen_ai.response.id"] = turn.message_id
        facts["gen_ai.response.finish_reasons"] = [finish_reason(turn)]
        if turn.usage is not None:
            facts |= named(turn.usage, GENAI)
            if turn.usage.cache_creation_input_tokens:  # the newer name of the same number; receivers know one or both
                facts["gen_ai.usage.cache_write.input_tokens"] = turn.usage.cache_creation_input_tokens
        return facts

    def _openinference_chat(self, turn: Turn) -> dict[str, Any]:
        facts: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.system": _provider(turn.model)}
        if turn.model:
            facts["llm.model_name"] = turn.model
        if turn.usage is not None:
            facts |= named(turn.usage, OPENINFERENCE)
        return facts

    def _tool(self, call: Call, thread: Thread, parent: str, clock: int) -> dict[str, Any]:
        key = f"{thread.source} {call.call_id}"
        span = self._span("tool", key, parent, f"execute_tool {call.name}", INTERNAL)
        start = clock if call.at is None else _nanoseconds(call.at)
        end = start if call.answered_at is None else max(start, _nanoseconds(call.answered_at))
        if call.duration_ms is not None:
            end = start + int(call.duration_ms * 1_000_000)
        span |= _times(start, end)
        facts = self._session()
        if self._is_genai:
            facts |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name}
            facts |= {"gen_ai.tool.call.id": call.call_id, "gen_ai.tool.type": "function"}
        else:
            facts |= {"openinference.span.kind": "TOOL", "tool.name": call.name, "tool.id": call.call_id}
        if self._content == "none":
            self._report.change("arguments and results left out", call.seq)
        else:
            facts |= self._tool_content(call)
        if call.error is not None:
            facts["error.type"] = "tool_error"
            span["status"] = {"code": ERROR, "message": call.error if self._content != "none" else ""}
        if not call.has_result:
            facts["stenograph.open"] = True
            self.unsettled.add(span["spanId"])
        span["attributes"] = attributes_of(facts)
        return span

    def _tool_content(self, call: Call) -> dict[str, Any]:
        arguments = json_text(call.arguments)
        names = (
            ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")
            if self._is_genai
            else ("input.value", "output.value")
        )
        facts = {names[0]: arguments}
        if not self._is_genai:
            facts |= {"tool.parameters": arguments, "input.mime_type": "application/json"}
        if call.has_result:
            facts[names[1]] = result_text(call)
        return facts

    def _event(self, notice: Notice, at: int) -> dict[str, Any]:
        payload, event = notice.event.payload, notice.event
        if isinstance(payload, ErrorPayload):
            facts = {"exception.type": payload.code or "error"}
            if self._content == "none":
                self._report.change("texts of errors left out", notice.seq)
            else:
                facts["exception.message"] = payload.message
            return _span_event("exception", at, facts)
        name = payload.subtype if isinstance(payload, SystemPayload) else event.type
        facts = {"text": notice_text(notice)} if self._content != "none" else {}
        if self._content == "none":
            self._report.change("texts of events left out", notice.seq)
        elif not isinstance(payload, SystemPayload) or payload.data is not None:
            data = payload.data if isinstance(payload, SystemPayload) else mend.plain(payload)
            facts["data"] = json_text(data)
        if event.path:
            facts["stenograph.path"] = event.path
        return _span_event(f"stenograph.{name}", at, facts)

    def _usage(self, payload: Any, at: int) -> dict[str, Any]:
        return _span_event("stenograph.usage", at, {"data": json_text(mend.plain(payload))})


def _provider(model: str | None) -> str:
    return next((name for start, name in _PROVIDERS if (model or "").startswith(start)), "unknown")


def _nanoseconds(text: str) -> int:
    moment = moment_of(text)
    if moment is None:
        return 0
    return min(_LATEST, max(0, (moment - _EPOCH) // timedelta(microseconds=1) * 1000))


def _times(start: int, end: int) -> dict[str, str]:
    start = min(_LATEST, start)
    return {"startTimeUnixNano": str(start), "endTimeUnixNano": str(min(_LATEST, max(start, end)))}


def _span_event(name: str, at: int, facts: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "timeUnixNano": str(min(_LATEST, at)), "attributes": attributes_of(facts)}


def attributes_of(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes in the JSON form of the protocol."""
    return [{"key": name, "value": _value(value)} for name, value in facts.items()]


def _value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(max(-_LARGEST - 1, min(_LARGEST, value)))}
        case list():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
    return {"stringValue": value}
