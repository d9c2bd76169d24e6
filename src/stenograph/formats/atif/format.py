"""Trajectories as events: steps in order, subagents where the result of their call names them.

Theory of operation. A step is a message, with its calls, their results and its tokens. What Stenograph itself put into
`extra.stenograph` becomes the same event again. A subagent's trajectory is in the file or in one beside it
(`trajectory_path`, by the opener's `side_file`), and is emitted between the call that names it and that call's result;
a continuation (`continued_trajectory_ref`) is emitted at the end. Each file is read once, so files that name each other
do not loop.
"""

from __future__ import annotations

import json
from typing import Any

from stenograph.formats.atif.detection import is_trajectory
from stenograph.formats.base import Context
from stenograph.formats.shared.call import call_of
from stenograph.formats.shared.importing import ImportFormat
from stenograph.formats.shared.loose import a_count, a_dict, a_list, a_str, dicts, first_str
from stenograph.formats.shared.model_api.media import from_url
from stenograph.formats.shared.model_api.parts import text_block, thinking_block
from stenograph.formats.shared.side_text import media_type_of
from stenograph.formats.shared.usage import UsageFields
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model import mend
from stenograph.model.block import AttachmentBlock, Block, TextBlock, ToolUseBlock
from stenograph.model.payload import UsagePayload

_METRICS = UsageFields(
    input=("prompt_tokens",),
    output=("completion_tokens",),
    cache_read=("cached_tokens",),
    cache_write=("extra.cache_creation_input_tokens", "extra.cache_write_input_tokens"),
    reasoning=("extra.reasoning_output_tokens",),
    cost=("cost_usd",),
)
_TOTALS = UsageFields(
    input=("total_prompt_tokens",),
    output=("total_completion_tokens",),
    cache_read=("total_cached_tokens",),
    cost=("total_cost_usd",),
)
_METRIC_FIELDS = ("prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra")
_METRIC_EXTRAS = ("cache_creation_input_tokens", "cache_write_input_tokens", "reasoning_output_tokens")
_STEP_FIELDS = (
    "step_id", "source", "message", "timestamp", "model_name", "reasoning_content", "tool_calls", "metrics",
    "observation", "is_copied_context", "llm_call_count", "extra",
)  # fmt: skip
_STEP_EXTRAS = ("stenograph", "context_management", "message_id", "stop_reason")
_RESULT_EXTRAS = ("is_error", "error", "duration_ms", "call_id", "tool_result_is_error")
_INSIDE = ("steps", "subagent_trajectories")
"""Fields of a trajectory that are emitted piece by piece; the others are one event."""


class AtifFormat(ImportFormat):
    """One trajectory, with its subagents and its continuations."""

    name = "atif"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._opened: set[str] = set()
        """Files beside this one that were read."""
        self._source = context.source
        self._parts = 0
        """Trajectories so far: step ids start again in each."""
        self._part = 0
        self._link: tuple[str | None, str | None] = None, None

    def _record(self, record: dict[str, Any]) -> None:
        if is_trajectory(record):
            self.losses.version = self.losses.version or a_str(record["schema_version"]).removeprefix("ATIF-v")
            self._is_unread(record)
            self._trajectory(record)

    def _at(self, timestamp: Any = None) -> None:
        parent, call_id = self._link
        self._place(timestamp, source=self._source, parent_source=parent, parent_call_id=call_id)

    def _trajectory(self, trajectory: dict[str, Any]) -> None:
        steps = dicts(trajectory.get("steps"))
        self._parts += 1
        outer, self._part = self._part, self._parts
        before = len(self._out)
        self._at(next((step["timestamp"] for step in steps if step.get("timestamp")), None))
        about = {name: value for name, value in trajectory.items() if name not in _INSIDE}
        agent = a_dict(trajectory.get("agent"))
        if "tool_definitions" in agent:
            about["agent"] = {name: value for name, value in agent.items() if name != "tool_definitions"}
        self._note("trajectory", first_str(trajectory, "notes"), about)
        self._define(agent.get("tool_definitions"))
        inside: dict[str, Any] = {}
        for number, each in enumerate(dicts(trajectory.get("subagent_trajectories")), 1):
            name = a_str(each.get("trajectory_id"))
            inside[f"{name}#{number}" if name in inside else name] = each
        for place, step in enumerate(steps):
            follower = steps[place + 1] if place + 1 < len(steps) else {}
            self._step(step, inside, is_prompt=follower.get("source") == "user")
        self._emit_system()
        for name in list(inside):
            self._subagent(inside.pop(name), name, None)
        has_usage = any(event.type == "token.usage" for event in self._out[before:])
        self._totals(a_dict(trajectory.get("final_metrics")), has_usage)
        self._continuation(a_str(trajectory.get("continued_trajectory_ref")))
        self._part = outer

    def _totals(self, metrics: dict[str, Any], has_usage: bool) -> None:
        """Tokens outside steps: those that our export put there, or the sum when no step has any."""
        ours = a_dict(a_dict(metrics.get("extra")).get("stenograph")).get("usage")
        for each in dicts(ours):
            payload = mend.payload_from("token.usage", {name: each[name] for name in each if name != "seq"})
            if isinstance(payload, UsagePayload):
                self._usage(payload)
        if not has_usage and not ours:
            self._usage(_TOTALS.read(metrics, scope="total"))

    # Steps.

    def _step(self, step: dict[str, Any], inside: dict[str, Any], *, is_prompt: bool) -> None:
        self._at(step.get("timestamp"))
        if step.get("is_copied_context") is True:
            self._note("copied_context", _text_of(step.get("message")), step)
            return
        self._drop_fields(step, _STEP_FIELDS, "steps")
        self._drop_fields(a_dict(step.get("extra")), _STEP_EXTRAS, "steps: extra")
        source = step.get("source")
        if source == "agent":
            self._agent(step)
        elif source == "user":
            self._user(self._content(step.get("message")))
        elif source == "system":
            self._notice(step, is_prompt)
        else:
            self._unknown(step, source)
        if isinstance(step.get("observation"), dict):
            self._results(dicts(step["observation"].get("results")), inside)
        if source == "agent":
            self._metrics(step)

    def _notice(self, step: dict[str, Any], is_prompt: bool) -> None:
        """A system step: an event that our export put there, a compaction, a system prompt, or else a text of the
        harness."""
        extra = a_dict(step.get("extra"))
        ours = a_dict(extra.get("stenograph"))
        text = _text_of(step.get("message"))
        kind = ours.get("type")
        if kind == "system.event" and isinstance(ours.get("subtype"), str):
            self._note(ours["subtype"], text, ours.get("data"))
        elif isinstance(kind, str):
            self._restored(kind, ours, path=a_str(ours.get("path")), iteration=a_count(ours.get("iteration")) or 0)
        elif a_dict(extra.get("context_management")).get("type") == "compaction":
            self._note("compaction", text, extra)
        elif is_prompt and "observation" not in step:
            self._system_prompt(text)
        elif text or "observation" not in step:
            self._note("atif.system", text)

    def _agent(self, step: dict[str, Any]) -> None:
        calls = [self._call(call) for call in dicts(step.get("tool_calls"))]
        blocks: list[Block] = []
        if reasoning := _text_of(step.get("reasoning_content")):
            blocks.append(thinking_block(reasoning))
        blocks += self._content(step.get("message"))
        if not blocks and calls and step.get("llm_call_count") == 0:
            self._emit_system()
            for call in calls:  # made by the harness, not by a model
                self._emit("tool.call", call_of(call))
            return
        blocks += calls
        self._answer(
            blocks,
            model=first_str(step, "model_name"),
            message_id=self._message_id(step),
            stop_reason=first_str(a_dict(step.get("extra")), "stop_reason"),
        )

    def _call(self, call: dict[str, Any]) -> ToolUseBlock:
        if a_dict(call.get("extra")):
            self._drop("calls: extra")
        return self._use(call.get("tool_call_id"), a_str(call.get("function_name")), call.get("arguments"))

    def _message_id(self, step: dict[str, Any]) -> str:
        """The message's id if the file has it, else the step's, so that adjacent steps are different messages."""
        own = first_str(a_dict(step.get("extra")), "message_id")
        return own or f"{self.context.run_id}/{self._part}#{step.get('step_id')}"

    def _metrics(self, step: dict[str, Any]) -> None:
        metrics = a_dict(step.get("metrics"))
        self._drop_fields(metrics, _METRIC_FIELDS, "metrics")
        self._drop_fields(a_dict(metrics.get("extra")), _METRIC_EXTRAS, "metrics: extra")
        calls = step.get("llm_call_count")
        is_turn = isinstance(calls, int) and calls > 1
        self._usage(
            _METRICS.read(
                metrics,
                model=first_str(step, "model_name"),
                message_id=self._message_id(step),
                scope="turn" if is_turn else "call",
            )
        )

    # Results and subagents.

    def _results(self, results: list[dict[str, Any]], inside: dict[str, Any]) -> None:
        for result in results:
            extra = a_dict(result.get("extra"))
            native_id = first_str(result, "source_call_id")
            call_id = native_id if native_id or "call_id" not in extra else a_str(extra["call_id"])
            for ref in dicts(result.get("subagent_trajectory_ref")):
                self._referred(ref, inside, call_id)
            if "content" not in result and "subagent_trajectory_ref" in result:
                continue  # it names the subagents of a call that was never answered
            self._drop_fields(extra, _RESULT_EXTRAS, "results: extra")
            duration = extra.get("duration_ms")
            failed = extra.get("is_error") is True or extra.get("tool_result_is_error") is True
            self._observed(call_id, result.get("content"), extra, failed, duration)

    def _observed(self, call_id: str | None, content: Any, extra: dict[str, Any], failed: bool, duration: Any) -> None:
        if call_id is None:
            # What the environment showed, when the agent's calls are only text in its messages.
            blocks = self._content(content)
            text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
            data = {"content": content} if any(not isinstance(block, TextBlock) for block in blocks) else None
            self._note("observation", text, data)
            return
        is_time = isinstance(duration, int | float) and not isinstance(duration, bool)
        self._result(
            call_id,
            self._result_content(content),
            error=first_str(extra, "error"),
            failed=failed,
            duration_ms=float(duration) if is_time else None,
        )

    def _referred(self, ref: dict[str, Any], inside: dict[str, Any], call_id: str | None) -> None:
        """The subagent that a result names: one inside the file, else one in a file beside it."""
        name = a_str(ref.get("trajectory_id"))
        found = inside.pop(name, None)
        path = a_str(ref.get("trajectory_path"))
        if found is None and path:
            found = self._read(path)
            name = name or a_str(a_dict(found).get("trajectory_id")) or a_str(ref.get("session_id")) or path
        if found is not None:
            self._subagent(found, name, call_id)
        elif path or name:
            self._drop("subagents: not in the file")

    def _subagent(self, trajectory: dict[str, Any], name: str, call_id: str | None) -> None:
        source, link = self._source, self._link
        # Our own exports name a subagent by its run and its source.
        self._source = f"subagent:{name.rpartition('/subagent:')[2] or len(self._sources) + 1}"
        self._link = source, call_id
        self._trajectory(trajectory)
        self._source, self._link = source, link
        self._at()

    def _continuation(self, path: str) -> None:
        trajectory = self._read(path) if path else None
        if trajectory is not None:
            self._trajectory(trajectory)

    def _read(self, path: str) -> dict[str, Any] | None:
        """A trajectory in a file beside this one; None when there is none, or it was read before."""
        if path in self._opened:
            return None
        self._opened.add(path)
        text = None if self.context.side_file is None else self.context.side_file(path)
        if text is None:
            self.report.wanted_files.append(path)
            return None
        try:
            value, replaced = mend.parse_json(text.encode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            self.report.malformed += 1
            return None
        self.report.replaced += replaced
        return value if is_trajectory(value) and self._is_unread(value) else None

    def _is_unread(self, trajectory: dict[str, Any]) -> bool:
        """Whether a trajectory was not emitted yet: files may name each other in a circle."""
        return self._is_new("trajectory", json.dumps(trajectory, sort_keys=True))

    # Content.

    def _result_content(self, content: Any) -> Any:
        """The parts of a result in the common form of content; a text is not a part."""
        if not isinstance(content, list):
            return content
        parts = [self._joined(part) for part in content]
        self._drop("attachments: in other files", sum(_is_elsewhere(part) for part in parts))
        return [_as_data(part) for part in parts]

    def _content(self, content: Any) -> list[Block]:
        """A text, or parts: texts, and media with their bytes as data URLs or in a file beside this one."""
        if isinstance(content, str):
            return [text_block(content)] if content else []
        blocks = [_block(self._joined(part)) for part in a_list(content)]
        media = sum(not isinstance(block, TextBlock | AttachmentBlock) for block in blocks)
        if media:
            self._drop("attachments: in other files", media)
        return blocks

    def _joined(self, part: Any) -> Any:
        """A part with the bytes of its file, if that exists; the type is the one that the part names."""
        source = a_dict(a_dict(part).get("source"))
        path = a_str(source.get("path"))
        if path.startswith("data:") or "://" in path or media_type_of(path) is None:
            return part
        url = None if self.context.side_file is None else self.context.side_file(path)
        if url is None:
            self.report.wanted_files.append(path)
            return part
        media_type = a_str(source.get("media_type")) or media_type_of(path)
        return part | {"source": source | {"path": f"data:{media_type};base64,{url.partition(',')[2]}"}}


def _block(part: Any) -> Block:
    if isinstance(part, str):
        return text_block(part)
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return text_block(part["text"])
    block = from_url(a_str(a_dict(a_dict(part).get("source")).get("path")))
    return block or verbatim(part)


def _is_elsewhere(part: Any) -> bool:
    """Whether a part is a picture or a sound that is only named by its path."""
    return "source" in a_dict(part) and from_url(a_str(a_dict(part["source"]).get("path"))) is None


def _as_data(part: Any) -> Any:
    """A part of a result in the common form of content."""
    path = a_dict(a_dict(part).get("source")).get("path")
    is_data = isinstance(path, str) and path.startswith("data:")
    return {"type": "image_url", "image_url": {"url": path}} if is_data else part


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(a_str(part.get("text")) for part in dicts(content) if part.get("text"))
