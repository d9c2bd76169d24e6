"""A log's samples as events.

Theory of operation. A sample holds a conversation twice: its model events, each with the whole input of its call, and
its list of messages. The model events are emitted, first what is new in each input, because only they hold what a
subagent or a compaction left out of the list; then what the list has beyond them. A message is identified by its id,
else by its content. A result is emitted from the event of its tool, which has its time, else from its message.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from stenograph.formats.base import Context
from stenograph.formats.inspect_log.content import blocks_of, part_of_result, resolved
from stenograph.formats.inspect_log.detection import is_log
from stenograph.formats.inspect_log.spans import Spans, every_event
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts, first_str, milliseconds
from stenograph.formats.shared.model_api.parts import plain_text
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block, ToolUseBlock, UnknownBlock

USAGE = UsageFields(
    input=("input_tokens",),
    output=("output_tokens",),
    cache_read=("input_tokens_cache_read",),
    cache_write=("input_tokens_cache_write",),
    reasoning=("reasoning_tokens",),
    cost=("total_cost",),
    input_has_cache=False,
)
_REPEATED = ("span_begin", "span_end", "sample_init", "state", "store", "step")
"""Events about the progress of the evaluation: counted, not emitted."""
_EMITTED = (
    "events",
    "events_data",
    "messages",
    "attachments",
    "output",
    "input",
    "scores",
    "error",
    "model_usage",
)
"""Fields of a sample that are emitted piece by piece, or repeat that; the others are one event."""


class InspectLogFormat(ImportFormat):
    """One sample of a log with the log's head: a log with one sample."""

    name = "inspect_log"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._said: Counter[int] = Counter()
        """How often each message was emitted."""
        self._apart: dict[str, Any] = {}
        self._spans = Spans([])
        self._source = context.source

    def _record(self, record: dict[str, Any]) -> None:
        if not is_log(record):
            return
        version = record.get("version")
        self.losses.version = str(version) if isinstance(version, int) else ""
        head = {name: value for name, value in record.items() if name not in ("samples", "plan", "stats", "reductions")}
        for sample in dicts(record.get("samples")) or [{}]:
            self._sample(sample, head)

    def _sample(self, sample: dict[str, Any], head: dict[str, Any]) -> None:
        self._apart = a_dict(sample.get("attachments"))
        events = dicts(sample.get("events"))
        pool = a_list(a_dict(sample.get("events_data")).get("messages"))
        self._spans = Spans(events)
        self._source = self.context.source
        self._at(first_str(sample, "started_at") or first_str(a_dict(head.get("eval")), "created"))
        facts = {name: value for name, value in sample.items() if name not in _EMITTED}
        self._note("sample", first_str(a_dict(head.get("eval")), "task"), head | {"sample": facts})
        has_usage = False
        for event in every_event(events):
            self._in_span(event)
            has_usage |= event.get("event") == "model" and "usage" in a_dict(event.get("output"))
            self._event(event, pool)
        self._source = self.context.source
        self._at()
        self._messages(sample.get("messages"))
        self._emit_system()
        if not events and not sample.get("messages"):
            self._input(sample.get("input"))
        if not has_usage:
            for model, usage in a_dict(sample.get("model_usage")).items():
                self._usage(USAGE.read(usage, model=model, scope="total"))
        self._end(sample)

    def _end(self, sample: dict[str, Any]) -> None:
        self._at(sample.get("completed_at"))
        is_scored = any(event.get("event") == "score" for event in dicts(sample.get("events")))
        for name, score in a_dict(None if is_scored else sample.get("scores")).items():
            self._note("score", f"{name}: {a_dict(score).get('value')}", {"name": name, "score": score})
        fault = a_dict(sample.get("error"))
        if fault:
            self._error(a_str(fault.get("message")), data=fault)

    def _at(self, timestamp: Any = None) -> None:
        parent, call_id = self._spans.parent_of(self._source)
        self._place(timestamp, source=self._source, parent_source=parent, parent_call_id=call_id)

    def _in_span(self, event: dict[str, Any]) -> None:
        span = event.get("id") if event.get("event") in ("span_begin", "span_end") else event.get("span_id")
        self._source = self._spans.source_of(span) if span else self.context.source
        self._at(event.get("timestamp"))

    # Events.

    def _event(self, event: dict[str, Any], pool: list[Any]) -> None:
        kind = event.get("event")
        if kind == "model":
            self._model(event, pool)
        elif kind == "tool":
            self._tool(event)
        elif kind == "info":
            self._info(event)
        elif kind == "span_begin":
            if self._source != "main" and self._is_new("span", ""):
                self._note("subagent", first_str(event, "name"), {"span_id": event.get("id")})
        elif kind == "compaction":
            payload = a_dict(a_dict(a_dict(event.get("metadata")).get("stenograph")).get("payload"))
            self._note("compaction", first_str(payload, "text"), payload.get("data") if payload else _facts(event))
        elif kind == "error":
            fault = a_dict(event.get("error"))
            self._error(a_str(fault.get("message")), data=fault)
        elif kind in _REPEATED:
            self._drop(f"events: {kind}", 0 if str(kind).startswith("span") else 1)
        else:
            self._note(f"inspect.{kind}", None, resolved(_facts(event), self._apart))

    def _model(self, event: dict[str, Any], pool: list[Any]) -> None:
        asked = [*a_list(event.get("input"))]
        for ref in a_list(event.get("input_refs")):
            if isinstance(ref, list) and len(ref) == 2 and all(isinstance(end, int) for end in ref):
                asked += pool[max(0, ref[0]) : max(0, ref[1])]
        self._messages(asked)
        self._define(event.get("tools"))
        if a_dict(event.get("config")):
            self._drop("model calls: config")
        output = a_dict(event.get("output"))
        choices = dicts(output.get("choices"))
        self._at(event.get("completed") or event.get("timestamp"))
        model = first_str(output, "model") or first_str(event, "model")
        message_id = None
        for place, choice in enumerate(choices):
            message = resolved(a_dict(choice.get("message")), self._apart)
            if place:
                self._note("alternative", plain_text(message.get("content")), choice)
                continue
            message_id = first_str(message, "id")
            self._said[self._mark_of(message)] += 1
            ours = a_dict(a_dict(event.get("metadata")).get("stenograph"))
            if ours.get("is_said") is False and not message.get("content"):
                self._calls(message)
            else:
                self._assistant(message, model, first_str(choice, "stop_reason"))
        self._usage(USAGE.read(output.get("usage"), model=model, message_id=message_id))
        fault = first_str(event, "error") or first_str(output, "error")
        if fault:
            self._error(fault)

    def _calls(self, message: dict[str, Any]) -> None:
        """Emit only the calls of a message: our exports write a message around calls of the host."""
        for block in self._asked(message):
            self._emit("tool.call", call_of(block))

    def _asked(self, message: dict[str, Any]) -> list[ToolUseBlock]:
        blocks = [
            self._use(call.get("id"), a_str(call.get("function")), call.get("arguments"))
            for call in dicts(message.get("tool_calls"))
        ]
        for block in blocks:
            self._is_new("call", block.tool_id)
        return blocks

    def _tool(self, event: dict[str, Any]) -> None:
        call_id, name = a_str(event.get("id")), a_str(event.get("function"))
        if self._is_new("call", call_id):
            self._emit_system()
            self._emit("tool.call", call_of(self._use(call_id, name, event.get("arguments"))))
        if event.get("pending") is True:
            return
        if self._is_new("result", call_id):
            self._at(event.get("completed") or event.get("timestamp"))
            duration = milliseconds(event.get("working_time"))
            self._answered(call_id, name, event.get("result"), event.get("error"), duration)

    def _info(self, event: dict[str, Any]) -> None:
        data = resolved(event.get("data"), self._apart)
        ours = a_dict(data) if event.get("source") == "stenograph" else {}
        kind = ours.get("type")
        if isinstance(kind, str) and "payload" in ours:
            self._restored(kind, ours)
        elif kind == "messages":
            self._messages(ours.get("messages"))
            self._emit_system()
        else:
            self._note("inspect.info", data if isinstance(data, str) else None, _facts(event) | {"data": data})

    # Messages.

    def _input(self, content: Any) -> None:
        """Emit the input of a sample that has nothing else."""
        if isinstance(content, str):
            self._user(blocks_of(content))
        self._messages(content)

    def _messages(self, messages: Any) -> None:
        """Emit those messages of a list that were not emitted; equal ones as often as the list has them."""
        met: Counter[int] = Counter()
        for message in dicts(resolved(messages, self._apart)):
            mark = self._mark_of(message)
            met[mark] += 1
            if met[mark] > self._said[mark]:
                self._said[mark] += 1
                self._message(message)

    def _message(self, message: dict[str, Any]) -> None:
        role = message.get("role")
        if role == "assistant":
            self._assistant(message, first_str(message, "model"), None)
        elif role == "tool":
            call_id = a_str(message.get("tool_call_id"))
            if not call_id or self._is_new("result", call_id):
                self._answered(
                    call_id, a_str(message.get("function")), message.get("content"), message.get("error"), None
                )
        elif role == "system":
            self._system_prompt(plain_text(message.get("content")))
        elif role == "user":
            self._user(self._blocks(message.get("content")), message_id=first_str(message, "id"))
        else:
            self._unknown(message, role)

    def _assistant(self, message: dict[str, Any], model: str | None, stop_reason: str | None) -> None:
        blocks = self._blocks(message.get("content"))
        blocks += self._asked(message)
        self._answer(blocks, model=model, message_id=first_str(message, "id"), stop_reason=stop_reason)

    def _answered(self, call_id: str, name: str, content: Any, fault: Any, duration_ms: float | None) -> None:
        content = resolved(content, self._apart)
        error = first_str(a_dict(fault), "message") or (a_str(a_dict(fault).get("type")) or None)
        parts = [part_of_result(part) for part in content] if isinstance(content, list) else content
        self._result(call_id, parts, name=name, error=error, duration_ms=duration_ms)

    def _blocks(self, content: Any) -> list[Block]:
        blocks = blocks_of(content)
        missing = [block for block in blocks if isinstance(block, UnknownBlock)]
        self._drop("attachments: in other files", sum(_is_media(block) for block in missing))
        return blocks

    # What is known.

    def _is_new(self, kind: str, name: str) -> bool:
        return super()._is_new(kind, f"{self._source}\n{name}")

    def _mark_of(self, message: dict[str, Any]) -> int:
        """What identifies a message: its id, else its content."""
        own = first_str(message, "id")
        said = json.dumps([message.get(name) for name in ("role", "content", "tool_calls", "tool_call_id")])
        return digest_of("message", f"{self._source}\n{own or said}")


def _facts(event: dict[str, Any]) -> dict[str, Any]:
    """The fields of an event besides its place."""
    places = ("event", "uuid", "span_id", "timestamp", "working_start", "metadata")
    return {name: value for name, value in event.items() if name not in places and value is not None}


def _is_media(block: UnknownBlock) -> bool:
    return dict(block.extra or {}).get("type") in ("image", "audio", "video", "document")
