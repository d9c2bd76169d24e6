"""What Qwen Code's records say, as payloads and blocks."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from stenograph.formats.qwen_code.record import CallResult, Compression, Failure, Payload, UiEvent, Usage
from stenograph.formats.shared.gemini_parts import (
    add_block,
    block_of,
    error_of,
    output_of,
    parts_of,
    response_of,
    result_payload,
    text_of,
    texts_of,
    words_in,
)
from stenograph.formats.shared.loose import a_dict, a_str, dicts, small, string, tokens
from stenograph.model.block import Block
from stenograph.model.payload import ErrorPayload, SystemPayload, ToolPayload, UsagePayload

CANCELLED = "cancelled"
_FAILED = ("error", CANCELLED)
_SAVED_TO = re.compile(r"(?:<persisted-output>\s|Output too large|Tool output was too large)[\s\S]{0,200}?"
                       r"[Ff]ull output (?:has been )?saved to: ([^\n]+)")  # fmt: skip
_IN_HOME = re.compile(r"(?:^|[/\\])(tmp[/\\][\w-]+[/\\](?:tool-results[/\\])?[^/\\]+)$")
_FACTS = {
    "files_read": "filesRead", "status": "status", "phase": "phase", "raw_command": "rawCommand",
    "title_source": "titleSource", "model_id": "modelId", "model": "model", "parent_session_id": "parentSessionId",
    "truncated_count": "truncatedCount", "target_turn_index": "targetTurnIndex", "state": "state",
    "stop_reason": "stopReason", "prompt_id": "promptId", "call_id": "callId",
}  # fmt: skip
"""Fields of system records to keep as data, under the agent's spelling."""
_TEXTS = ("display_text", "user_text", "message", "raw_command", "custom_title", "result_text")
_MEASURED = (
    "model", "call_id", "function_name", "status", "duration_ms", "subagent_id", "status_code", "error_type",
    "input_token_count", "output_token_count",
)  # fmt: skip


def hook_context(part: Any) -> str | None:
    """What a hook added to a prompt; None for the prompt itself."""
    text = text_of(part)
    return text if text is not None and text.startswith("<qwen:user-prompt-submit-context>") else None


def blocks_of(parts: Any, message_id: str) -> list[Block]:
    """The blocks of a message; a call without an id is named by its message and its place."""
    blocks: list[Block] = []
    for number, part in enumerate(parts_of(parts)):
        add_block(blocks, block_of(part, f"{message_id}:{number}"))
    return blocks


def results_of(parts: Any, ended: Any) -> list[ToolPayload]:
    """The answers in a record's parts; media beside a single answer belong to it."""
    ended = ended if isinstance(ended, CallResult) else CallResult()
    found = parts_of(parts)
    answered = [part for part in found if response_of(part) is not None]
    if len(answered) > 1:
        return [_result([part], ended if _id_of(part) == ended.call_id else CallResult()) for part in answered]
    return [_result(found, ended)] if answered or ended.call_id is not None else []


def _id_of(part: Any) -> str:
    return a_str(a_dict(response_of(part)).get("id"))


def _result(parts: list[Any], ended: CallResult) -> ToolPayload:
    response = next((found for part in parts if (found := response_of(part)) is not None), {})
    output, blocks = output_of(parts)
    if not parts:
        output = ended.result_display
    answer = a_dict(response.get("response"))
    error = None
    if ended.status in _FAILED or (ended.status is None and "error" in answer and "output" not in answer):
        error = error_of(parts) or words_in(output) or f"The tool ended as {ended.status or 'error'}."
    call_id = a_str(response.get("id")) or a_str(ended.call_id)
    payload = result_payload(a_str(response.get("name")), call_id, output, error, blocks)
    return timed(payload, ended.duration_ms)


def timed(payload: ToolPayload, milliseconds: Any) -> ToolPayload:
    """A result with its duration, if that is known."""
    count = tokens(milliseconds)
    return payload if count is None else replace(payload, duration_ms=float(count))


def side_file_of(output: Any) -> str | None:
    """The file in which Qwen Code stored an oversized output, below its own folder: `tmp/<project>/…`."""
    found = _SAVED_TO.match(output) if isinstance(output, str) else None
    path = None if found is None else _IN_HOME.search(found[1].strip())
    return None if path is None else path[1].replace("\\", "/")


def usage_of(usage: Usage, model: str | None, message_id: str) -> UsagePayload | None:
    """The tokens of one model call: its input includes what was cached.

    Its output includes the thoughts, unless the total shows that they are counted beside it, as Gemini's API does.
    """
    into, out = tokens(usage.prompt_token_count), tokens(usage.candidates_token_count)
    if into is None and out is None:
        return None
    thoughts, total = tokens(usage.thoughts_token_count), tokens(usage.total_token_count)
    is_beside = bool(thoughts) and total == (into or 0) + (out or 0) + (thoughts or 0)
    return UsagePayload(
        scope="call",
        input_tokens=into or 0,
        output_tokens=(out or 0) + ((thoughts or 0) if is_beside else 0),
        cache_read_input_tokens=tokens(usage.cached_content_token_count),
        reasoning_output_tokens=thoughts,
        model=model,
        message_id=message_id or None,
    )


def measured(event: UiEvent) -> SystemPayload:
    """A measurement of the program; the session's own records hold what was said and done."""
    facts = [(name, _plain(getattr(event, name))) for name in _MEASURED]
    return SystemPayload(subtype="ui_telemetry", data=small([("event", _plain(event.name)), *facts]))


def model_error(event: UiEvent) -> ErrorPayload:
    """A call of the model that failed."""
    code = event.status_code
    return ErrorPayload(
        message=string(event.error_message) or "Qwen Code reported a model error without a message",
        code=str(code) if code.__class__ is int else string(code) or string(event.error_type),
        data=small((("error_type", string(event.error_type)), ("model", string(event.model)))),
    )


def notice_of(subtype: str, payload: Payload, text: str | None = None) -> SystemPayload:
    """A record that is neither a message nor a tool event: its text and a few fields."""
    words = (string(getattr(payload, name)) for name in _TEXTS)
    facts = small((spelling, _plain(getattr(payload, name))) for name, spelling in _FACTS.items())
    if isinstance(payload.error, Failure) and string(payload.error.message):
        facts = {**(facts or {}), "error": payload.error.message}
    return SystemPayload(subtype=subtype, text=text or next(filter(None, words), None), data=facts)


def compaction_of(payload: Payload) -> SystemPayload:
    """The history was summarized: the first message of what is left of it is the summary."""
    info = payload.info if isinstance(payload.info, Compression) else Compression()
    facts = {
        "part": "summary",
        "pre_tokens": tokens(info.original_token_count),
        "post_tokens": tokens(info.new_token_count),
    }
    history = dicts(payload.compressed_history)
    summary = texts_of(history[0].get("parts")) if history else ""
    return SystemPayload(subtype="compaction", text=summary or None, data=small(facts.items()))


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in value if isinstance(each, str)] or None
    return value if isinstance(value, str | int | float) else None
