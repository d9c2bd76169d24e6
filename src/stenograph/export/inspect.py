"""Inspect: an eval log of one sample, which `inspect view` shows and Inspect Scout scans."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from stenograph.export.exporter import Exporter
from stenograph.export.usage_names import INSPECT, named
from stenograph.export.wording import (
    IMAGES,
    data_url,
    definitions_for,
    json_bytes,
    notice_text,
    pictures_of,
    result_text,
    text_of,
)
from stenograph.fold.conversation import (
    AttachmentPlace,
    ChatRules,
    account_for_run,
    conversation,
    drop_part,
    is_compaction,
)
from stenograph.fold.exchange import Call, Exchange, Notice, Thread, Turn, exchange
from stenograph.fold.losses import LossReport
from stenograph.model import mend
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ThinkingBlock
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.version import __version__

_NOTICES = frozenset({"system events", "errors", "lifecycle events", "unknown events", "results"})
_STOPS = {
    "end_turn": "stop", "stop": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "tool_calls": "tool_calls",
    "toolUse": "tool_calls", "max_tokens": "max_tokens", "length": "max_tokens", "content_filter": "content_filter",
    "refusal": "content_filter",
}  # fmt: skip
NO_MODEL = "none/none"
NO_TIME = "1970-01-01T00:00:00+00:00"
"""Used where the run has no time and the format requires one."""


def write(events: Iterable[Event], report: LossReport, *, subagents: str) -> Iterator[bytes]:
    """One log with one sample: the main agent's messages, and the events of all agents, subagents as spans."""
    yield json_bytes(inspect_log(events, report, subagents)) + b"\n"


def write_eval(events: Iterable[Event], report: LossReport, *, subagents: str) -> Iterator[bytes]:
    """The log as a zip file: the sample is separate from the header, so that a viewer opens a list of logs quickly."""
    log = inspect_log(events, report, subagents)
    (sample,) = log.pop("samples")
    name = f"{sample['id']}_epoch_{sample['epoch']}"
    summary = {each: sample[each] for each in ("id", "epoch", "input", "target", "uuid")}
    summary |= {each: sample[each] for each in ("started_at", "completed_at", "total_time") if each in sample}
    summary |= {"completed": True, "message_count": len(sample["messages"])}
    files = {
        "_journal/start.json": {"version": log["version"], "eval": log["eval"], "plan": {}},
        f"samples/{name}.json": sample,
        "summaries.json": [summary],
        "header.json": log | {"samples": None, "results": {"total_samples": 1, "completed_samples": 1}},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path, value in files.items():
            archive.writestr(zipfile.ZipInfo(path), json_bytes(value), zipfile.ZIP_DEFLATED)
    yield buffer.getvalue()


def inspect_log(events: Iterable[Event], report: LossReport, subagents: str) -> dict[str, Any]:
    """The whole log as plain values."""
    run = exchange(events)
    account_for_run(run, report)
    return _Log(run, report, subagents).value()


class _Log:
    def __init__(self, run: Exchange, report: LossReport, subagents: str) -> None:
        self._run = run
        self._report = report
        self._subagents = subagents
        self._model = run.model or NO_MODEL
        self._said: list[dict[str, Any]] = []
        """The messages of every thread in sequence; events refer to them by index."""
        times = [item.at for thread in run.threads for item in thread.items if item.at is not None]
        self._times = sorted(times, key=_seconds)
        self._start = _seconds(self._times[0]) if self._times else 0.0

    def value(self) -> dict[str, Any]:
        """The whole log."""
        messages, events = self._thread(self._run.main, None)
        children = self._run.subagents
        if self._subagents == "drop":
            for thread in children:
                self._report.drop("subagents", thread.items[0].seq if thread.items else 0)
                drop_part(thread.items, self._report, "of a subagent")
            children = ()
        for thread in children:
            self._report.carry("subagents")
            events += self._span(thread)
        first = next((message for message in messages if message["role"] == "user"), None)
        name = self._run.name or "stenograph"
        created = self._times[0] if self._times else NO_TIME
        sample = {
            "id": self._run.run_id,
            "epoch": 1,
            "uuid": self._run.run_id,
            "input": "" if first is None else first["content"] if isinstance(first["content"], str) else [first],
            "target": "",
            "messages": messages,
            "output": self._output(messages),
            "events": events,
            "events_data": {"messages": self._said, "calls": []},
            "metadata": {"stenograph": {"version": __version__, "adapter": self._run.adapter}},
        }
        if self._times:
            sample |= {"started_at": _iso(self._times[0]), "completed_at": _iso(self._times[-1])}
            sample["total_time"] = _seconds(self._times[-1]) - self._start
        return {
            "version": 2,
            "status": "success",
            "eval": {
                "created": _iso(created),
                "task": name,
                "dataset": {"name": name, "samples": 1, "sample_ids": [self._run.run_id]},
                "model": self._model,
                "config": {},
                "packages": {"stenograph": __version__},
            },
            "samples": [sample],
        }

    def _output(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        last = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
        choices = [] if last is None else [{"message": last, "stop_reason": "stop"}]
        return {"model": self._model, "choices": choices}

    def _span(self, thread: Thread) -> list[dict[str, Any]]:
        """The events of a subagent between the beginning and the end of its span."""
        _, events = self._thread(thread, thread.source)
        stamp = [item.at for item in thread.items if item.at is not None]
        common = {"id": thread.source, **self._place(stamp[0] if stamp else None)}
        begin = common | {"event": "span_begin", "name": thread.source, "type": "agent"}
        if thread.parent_source not in (None, "main", thread.source):
            begin["parent_id"] = thread.parent_source
        facts = {
            "source": thread.source,
            "parent_source": thread.parent_source,
            "parent_call_id": thread.parent_call_id,
        }
        begin["metadata"] = {"stenograph": facts}
        end = {"event": "span_end", "id": thread.source, **self._place(stamp[-1] if stamp else None)}
        return [begin, *events, end]

    def _thread(self, thread: Thread, span: str | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        rules = ChatRules(
            thinking=lambda block: None if block.thinking or block.signature or block.encrypted_content else "empty",
            attachments=_attachment_reason,
            notices=_NOTICES,
            usage=True,
            every_system_prompt=True,
        )
        items = conversation(thread.items, self._report, rules)
        tools = definitions_for(self._run, (), self._report)
        messages: list[dict[str, Any]] = []
        events: list[dict[str, Any]] = []
        before = len(self._said)
        asked_for = 0
        """Count messages that are in the input or output of a model event."""
        for item in items:
            if isinstance(item, Notice):
                events.append(self._notice(item))
                continue
            if item.role == "assistant":
                asked = (before, before + len(messages))
                messages.append(_answer(item))
                events.append(self._model_event(item, asked, messages[-1], tools))
                asked_for = len(messages)
            else:
                messages += _prompts(item)
            for call in item.calls:
                events.append(self._tool_event(call, thread))
                if call.has_result:
                    messages.append(_tool_message(call))
        if span is not None and (rest := messages[asked_for:]):
            data = {"type": "messages", "messages": rest}  # those of the main agent are in the sample itself
            events.append({"event": "info", "source": "stenograph", "data": data, **self._place(None)})
        self._said += messages
        return messages, events if span is None else [event | {"span_id": span} for event in events]

    def _place(self, at: str | None, end: str | None = None) -> dict[str, Any]:
        """The time of an event; `working_start` is in seconds since the run began."""
        found: dict[str, Any] = {"working_start": 0.0 if at is None else max(0.0, _seconds(at) - self._start)}
        found["timestamp"] = _iso(at or (self._times[0] if self._times else NO_TIME))
        if end is not None:
            found["completed"] = _iso(end)
        return found

    def _model_event(
        self, turn: Turn, asked: tuple[int, int], message: dict[str, Any], tools: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """One answer. Its input is given by its place in `events_data`, because copies would grow as n²."""
        model = turn.model or self._model
        output: dict[str, Any] = {
            "model": model,
            "choices": [{"message": message, "stop_reason": _STOPS.get(turn.stop_reason or "", "unknown")}],
        }
        if turn.usage is not None:
            output["usage"] = named(turn.usage, INSPECT)
        return {
            "event": "model",
            "model": model,
            "input": [],
            "input_refs": [asked],
            "tools": [_tool(tool) for tool in tools],
            "tool_choice": "auto",
            "config": {},
            "output": output,
            "metadata": {"stenograph": {"seq": turn.seq, "model_calls": len(turn.usages), "is_said": turn.records > 0}},
            **self._place(turn.at, turn.ended_at),
        }

    def _tool_event(self, call: Call, thread: Thread) -> dict[str, Any]:
        event: dict[str, Any] = {
            "event": "tool",
            "id": call.call_id,
            "function": call.name,
            "arguments": call.arguments,
            "type": "function",
            **self._place(call.at, call.answered_at),
        }
        if call.has_result:
            event["result"] = _result_content(call)
            if call.error is not None:
                event["error"] = {"type": "unknown", "message": call.error}
        else:
            event["pending"] = True
        if call.duration_ms is not None:
            event["working_time"] = call.duration_ms / 1000
        spawned = [each.source for each in self._run.subagents if each.parent_call_id == call.call_id]
        if spawned and self._subagents != "drop" and thread.source not in spawned:
            event["agent_span_id"] = spawned[0]
        return event

    def _notice(self, notice: Notice) -> dict[str, Any]:
        data = {"type": notice.event.type, "text": notice_text(notice), "payload": mend.plain(notice.event.payload)}
        if is_compaction(notice):
            return {
                "event": "compaction",
                "type": "summary",
                "source": "stenograph",
                "metadata": {"stenograph": data},
            } | (self._place(notice.at))
        return {"event": "info", "source": "stenograph", "data": data, **self._place(notice.at)}


def _attachment_reason(block: AttachmentBlock, _place: AttachmentPlace) -> str | None:
    if block.media_type not in IMAGES and block.media_type != "application/pdf":
        return "type not allowed"
    return None if block.data else "without data"


def _prompts(turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.system_prompt is not None:
        yield {"role": "system", "content": turn.system_prompt}
    yield {"role": "user", "content": _content(turn.blocks), "source": "input"}


def _answer(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _content(turn.blocks), "source": "generate"}
    if turn.message_id:
        message["id"] = turn.message_id
    if turn.model:
        message["model"] = turn.model
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.call_id, "function": call.name, "arguments": call.arguments, "type": "function"}
            for call in turn.calls
        ]
    return message


def _tool_message(call: Call) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "tool",
        "tool_call_id": call.call_id,
        "function": call.name,
        "content": _result_content(call),
    }
    if call.error is not None:
        message["error"] = {"type": "unknown", "message": call.error}
    return message


def _result_content(call: Call) -> str | list[dict[str, Any]]:
    media, text = pictures_of(call.blocks), result_text(call)
    return text if not media else [{"type": "text", "text": text}, *(_media(block) for block in media)]


def _content(blocks: tuple[Block, ...]) -> str | list[dict[str, Any]]:
    if not blocks or (len(blocks) == 1 and isinstance(blocks[0], TextBlock)):
        return text_of(blocks)
    return [_part(block) for block in blocks]


def _part(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text}
        case ThinkingBlock():
            return _reasoning(block)
        case AttachmentBlock():
            return _media(block)
    raise AssertionError(f"a {type(block).__name__} is not part of a conversation")


def _reasoning(block: ThinkingBlock) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "reasoning", "reasoning": block.thinking}
    if block.signature:
        part["signature"] = block.signature
    if not block.thinking and block.encrypted_content:
        part |= {"reasoning": block.encrypted_content, "redacted": True}
    return part


def _media(block: AttachmentBlock) -> dict[str, Any]:
    if block.media_type in IMAGES:
        return {"type": "image", "image": data_url(block)}
    name = f"{block.sha256[:16]}.pdf"
    return {"type": "document", "document": data_url(block), "filename": name, "mime_type": block.media_type}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool.get("description") or ""}


def _seconds(text: str) -> float:
    moment = moment_of(text)
    return 0.0 if moment is None else moment.timestamp()


def _iso(text: str) -> str:
    """A time with its zone, which Inspect requires."""
    moment = moment_of(text)
    return NO_TIME if moment is None else moment.isoformat()


EXPORTER = Exporter(
    name="inspect",
    what="an eval log of one sample (.json): inspect view, Inspect Scout",
    version="2",
    suffix=".json",
    write=write,
    options={"subagents": ("embed", "drop")},
)

EVAL_EXPORTER = Exporter(
    name="inspect-eval",
    what="an eval log in Inspect's own file format (.eval, a zip file)",
    version="2",
    suffix=".eval",
    write=write_eval,
    options={"subagents": ("embed", "drop")},
)
