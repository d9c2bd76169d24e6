"""ATIF, the Agent Trajectory Interchange Format: one JSON file that Harbor, Inspect Scout and Phoenix open."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from stenograph.errors import InvalidTarget
from stenograph.export.exporter import Exporter, Piece, SideFile
from stenograph.export.usage_names import ATIF, ATIF_EXTRA, named
from stenograph.export.wording import (
    IMAGES,
    function_tools,
    json_bytes,
    notice_text,
    pictures_of,
    result_text,
    text_of,
    thinking_of,
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
from stenograph.model.block import AttachmentBlock, Block, ThinkingBlock
from stenograph.model.event import Event
from stenograph.model.payload import SystemPayload, ToolPayload
from stenograph.version import __version__

VERSION, AUDIO_VERSION = "ATIF-v1.7", "ATIF-v1.8"
AUDIO = {
    "audio/wav": "wav", "audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/aac": "aac", "audio/ogg": "ogg",
    "audio/flac": "flac", "audio/webm": "webm", "audio/aiff": "aiff",
}  # fmt: skip
_NOTICES = frozenset({"system events", "errors", "lifecycle events", "unknown events", "results"})


def write(events: Iterable[Event], report: LossReport, *, subagents: str) -> Iterator[Piece]:
    """One trajectory. Images and sounds are files beside it; subagents are inside it, files beside it, or left out."""
    run = exchange(events)
    account_for_run(run, report, totals=True)
    writer = _Writer(run, report, subagents)
    trajectory = writer.trajectory(run.main, frozenset({run.main.source}))
    writer.leave_out_the_rest()
    if trajectory is None:
        raise InvalidTarget(f"{run.run_id or 'the run'} has no messages, so it cannot be written as atif")
    yield from writer.files.values()
    yield msgspec.json.format(json_bytes(trajectory), indent=2) + b"\n"


class _Writer:
    def __init__(self, run: Exchange, report: LossReport, subagents: str) -> None:
        self._run = run
        self._report = report
        self._subagents = subagents
        self._left = {thread.source: thread for thread in run.subagents}
        self._has_audio = False
        self.files: dict[str, SideFile] = {}

    def trajectory(self, thread: Thread, above: frozenset[str]) -> dict[str, Any] | None:
        """The trajectory of a source and its subagents; None if it has no steps."""
        children = self._children(thread, above)
        refs: dict[str, list[dict[str, Any]]] = {}
        for child, value in children:
            place = {"trajectory_id": value["trajectory_id"]}
            if self._subagents == "files":
                place["trajectory_path"] = _file_name(child)
            if child.parent_call_id:
                refs.setdefault(child.parent_call_id, []).append(place)
        steps = self._steps(thread, refs)
        if not steps:
            return None
        found: dict[str, Any] = {
            "schema_version": AUDIO_VERSION if self._has_audio else VERSION,
            "session_id": self._run.session_id or self._run.run_id,
            "trajectory_id": self._id_of(thread),
            "agent": self._agent(thread),
            "steps": steps,
        }
        if thread is self._run.main:
            found["final_metrics"] = self._metrics(len(steps))
            found["extra"] = {"stenograph": {"run_id": self._run.run_id, "version": __version__}}
        for child, value in children:
            self._report.carry("subagents")
            if self._subagents == "embed":
                found.setdefault("subagent_trajectories", []).append(value)
            else:
                name = _file_name(child)
                self.files[name] = SideFile(name, json_bytes(value))
        return found

    def _children(self, thread: Thread, above: frozenset[str]) -> list[tuple[Thread, dict[str, Any]]]:
        if self._subagents == "drop":
            return []
        sources = {each.source for each in self._run.threads}
        found = []
        for child in self._run.subagents:
            parent = child.parent_source if child.parent_source in sources - {child.source} else "main"
            if parent != thread.source or child.source in above or child.source not in self._left:
                continue
            del self._left[child.source]
            value = self.trajectory(child, above | {child.source})
            if value is None:
                self._report.drop("subagents: without a step", _first(child))
            else:
                found.append((child, value))
        return found

    def leave_out_the_rest(self) -> None:
        """Count the subagents without a trajectory: all of them, or those that contain each other."""
        for thread in self._left.values():
            self._report.drop("subagents", _first(thread))
            drop_part(thread.items, self._report, "of a subagent")

    def _id_of(self, thread: Thread) -> str:
        return self._run.run_id if thread is self._run.main else f"{self._run.run_id}/{thread.source}"

    def _agent(self, thread: Thread) -> dict[str, Any]:
        name = self._run.adapter.partition("_")[0] or "stenograph"
        agent: dict[str, Any] = {"name": name, "version": "unknown"}
        models = (turn.model for turn in reversed(thread.turns) if turn.model)
        if (model := next(models, None)) is not None:
            agent["model_name"] = model
        if (tools := function_tools(self._run)) is not None:
            agent["tool_definitions"] = tools
        return agent

    def _metrics(self, steps: int) -> dict[str, Any]:
        run, usage = self._run, self._run.usage
        found: dict[str, Any] = {"total_steps": steps}
        if usage.records:
            found["total_prompt_tokens"] = usage.input_tokens
            found["total_completion_tokens"] = usage.output_tokens
            found["total_cached_tokens"] = usage.cache_read_input_tokens
        if run.loose_usage:
            reports = [{"seq": seq, **mend.plain(payload)} for seq, payload in run.loose_usage]
            found["extra"] = {"stenograph": {"usage": reports}}
        return found

    def _steps(self, thread: Thread, refs: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
        rules = ChatRules(
            attachments=_attachment_reason,
            notices=_NOTICES,
            usage=True,
            every_system_prompt=True,
            thinking=self._thinking,
            joins_texts=True,
        )
        steps: list[dict[str, Any]] = []
        for item in conversation(thread.items, self._report, rules):
            for step in self._notice(item) if isinstance(item, Notice) else self._turn(item, refs):
                steps.append({"step_id": len(steps) + 1, **step})
        return steps

    def _thinking(self, block: ThinkingBlock) -> str | None:
        return None if block.thinking else "encrypted"

    def _notice(self, notice: Notice) -> Iterator[dict[str, Any]]:
        payload, event = notice.event.payload, notice.event
        step: dict[str, Any] = {"source": "system", **_at(notice.at)}
        if isinstance(payload, ToolPayload):
            call = Call(seq=0, call_id="", name="", input=None, output=payload.output, blocks=payload.blocks or ())
            extra = _result_extra(payload.error, payload.duration_ms) | {"call_id": payload.call_id}
            result = {"content": result_text(call), "extra": extra}
            yield step | {"message": "", "observation": {"results": [result]}}
            return
        if isinstance(payload, SystemPayload):
            facts: dict[str, Any] = {"type": event.type, "subtype": payload.subtype}
            if payload.data is not None:
                facts["data"] = payload.data
        else:
            facts = {"type": event.type, "payload": mend.plain(payload)}
        if event.path:
            facts |= {"path": event.path, "iteration": event.iteration}
        extra = {"stenograph": facts}
        if is_compaction(notice):
            extra["context_management"] = {"type": "compaction", "boundary": "replace"}
        yield step | {"message": notice_text(notice), "extra": extra}

    def _turn(self, turn: Turn, refs: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        at = _at(turn.at)
        if turn.system_prompt is not None:
            yield {"source": "system", "message": turn.system_prompt, **at}
        if turn.role == "user":
            yield {"source": "user", "message": self._content(turn.blocks), **at}
            return
        step: dict[str, Any] = {"source": "agent", "message": self._content(turn.blocks), **at}
        step["llm_call_count"] = max(1, len(turn.usages)) if turn.records else 0
        if turn.model:
            step["model_name"] = turn.model
        if thinking := thinking_of(turn.blocks):
            step["reasoning_content"] = thinking
            signed = [block for block in turn.blocks if isinstance(block, ThinkingBlock) and block.signature]
            self._report.drop("thinking signatures", turn.seq, len(signed))
        if turn.calls:
            step["tool_calls"] = [_call(call) for call in turn.calls]
            results = [each for call in turn.calls for each in self._result(call, refs)]
            if results:
                step["observation"] = {"results": results}
        if turn.usage is not None:
            step["metrics"] = _metrics_of(turn)
        extra = {"message_id": turn.message_id, "stop_reason": turn.stop_reason}
        if any(extra.values()):
            step["extra"] = {name: value for name, value in extra.items() if value}
        yield step

    def _result(self, call: Call, refs: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
        spawned = refs.pop(call.call_id, None)
        if not call.has_result and spawned is None:
            return
        result: dict[str, Any] = {"source_call_id": call.call_id}
        if call.has_result:
            parts = [_text_part(text)] if (text := result_text(call)) else []
            media = [self._media(block) for block in pictures_of(call.blocks)]
            result["content"] = [*parts, *media] if media else text
            if extra := _result_extra(call.error, call.duration_ms):
                result["extra"] = extra
        if spawned is not None:
            result["subagent_trajectory_ref"] = spawned
        yield result

    def _content(self, blocks: tuple[Block, ...]) -> str | list[dict[str, Any]]:
        media = [self._media(block) for block in pictures_of(blocks)]
        text = text_of(blocks)
        return [*([_text_part(text)] if text else []), *media] if media else text

    def _media(self, block: AttachmentBlock) -> dict[str, Any]:
        kind = "image" if block.media_type in IMAGES else "audio"
        ending = (IMAGES | AUDIO)[block.media_type]
        self._has_audio |= kind == "audio"
        name = f"{kind}s/{block.sha256[:16]}.{ending}"
        self.files[name] = SideFile(name, base64.b64decode(block.data or ""))
        return {"type": kind, "source": {"media_type": block.media_type, "path": name}}


def _attachment_reason(block: AttachmentBlock, _place: AttachmentPlace) -> str | None:
    if block.media_type not in IMAGES and block.media_type not in AUDIO:
        return "type not allowed"
    return _data_reason(block)


def _data_reason(block: AttachmentBlock) -> str | None:
    if not block.data or not re.fullmatch("[0-9a-f]{16,}", block.sha256):
        return "without data"
    try:
        base64.b64decode(block.data, validate=True)
    except ValueError:
        return "without data"
    return None


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _at(at: str | None) -> dict[str, str]:
    return {} if at is None else {"timestamp": at}


def _call(call: Call) -> dict[str, Any]:
    return {"tool_call_id": call.call_id, "function_name": call.name, "arguments": call.arguments}


def _result_extra(error: str | None, duration_ms: float | None) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    if error is not None:
        extra |= {"is_error": True, "error": error}
    if duration_ms is not None:
        extra["duration_ms"] = duration_ms
    return extra


def _metrics_of(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    assert usage is not None  # the caller has checked
    found: dict[str, Any] = dict(named(usage, ATIF))
    costs = [each.cost_usd for each in turn.usages if each.cost_usd is not None]
    if costs:
        found["cost_usd"] = sum(costs)
    if extra := named(usage, ATIF_EXTRA):
        found["extra"] = extra
    return found


def _first(thread: Thread) -> int:
    return thread.items[0].seq if thread.items else 0


def _file_name(thread: Thread) -> str:
    return f"{re.sub('[^A-Za-z0-9_.-]+', '-', thread.source).strip('.-') or 'subagent'}.trajectory.json"


EXPORTER = Exporter(
    name="atif",
    what="Agent Trajectory Interchange Format: Harbor, Inspect Scout, Phoenix",
    version="1.7",
    suffix=".trajectory.json",
    write=write,
    options={"subagents": ("embed", "files", "drop")},
)
