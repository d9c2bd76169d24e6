"""What OpenCode's parts hold, as blocks, tool results, usage and errors."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from stenograph.formats.shared.attachment import attachment
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dollars, first_str
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import AttachmentBlock, Block, Fidelity, TextBlock, ThinkingBlock
from stenograph.model.payload import ErrorPayload, ToolPayload, UsagePayload

EMITTED: Fidelity = "agent_emitted"
_TOO_MANY = 1 << 53
_LAST = 250_000_000_000_000
"""Milliseconds until about the year 9892: Python knows no year after 9999."""


def count_of(value: Any) -> int:
    """A number of tokens or milliseconds; 0 for anything that cannot be one."""
    if value.__class__ is float and value.is_integer():
        value = int(value)
    return value if value.__class__ is int and 0 <= value < _TOO_MANY else 0


def stamp(value: Any) -> str | None:
    """Epoch milliseconds as a timestamp; None for anything that cannot be one."""
    if value.__class__ is not int or not 0 < value < _LAST:
        return None
    seconds, milliseconds = divmod(value, 1000)
    return f"{_second(seconds)}.{milliseconds:03}000Z"


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    """A second as text; rows that follow one another share it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def facts_of(pairs: dict[str, Any]) -> dict[str, Any] | None:
    """The pairs whose value is set, or None when there are none."""
    return {name: value for name, value in pairs.items() if value is not None and value != ""} or None


def file_block(part: dict[str, Any]) -> Block:
    """A file that the user or a tool attached: its content if the part holds it, else the part unchanged."""
    url = a_str(part.get("url"))
    head, comma, data = url.removeprefix("data:").partition(",")
    block: AttachmentBlock | None = None
    if url.startswith("data:") and comma and head.endswith(";base64"):
        block = attachment(part.get("mime") or head.partition(";")[0], data)
    return block or verbatim({**part, "type": "file"})


def thinking_of(part: dict[str, Any], text: str) -> ThinkingBlock:
    """The text of a reasoning part, with what its `metadata` holds for each provider."""
    extra = {name: value for each in a_dict(part.get("metadata")).values() for name, value in a_dict(each).items()}
    return ThinkingBlock(
        fidelity=EMITTED,
        thinking=text,
        signature=first_str(extra, "signature", "thoughtSignature"),
        id=first_str(extra, "itemId"),
        encrypted_content=first_str(extra, "reasoningEncryptedContent", "redactedData"),
    )


def usage_of(tokens: Any, model: str | None, message_id: str, cost: Any = None) -> UsagePayload | None:
    """The tokens of one model call. OpenCode counts cached input and reasoning separately, the wire format does not."""
    if not isinstance(tokens, dict):
        return None
    cache = a_dict(tokens.get("cache"))
    read, written = count_of(cache.get("read")), count_of(cache.get("write"))
    reasoning = count_of(tokens.get("reasoning"))
    return UsagePayload(
        scope="call",
        input_tokens=count_of(tokens.get("input")) + read + written,
        output_tokens=count_of(tokens.get("output")) + reasoning,
        cache_read_input_tokens=read,
        cache_creation_input_tokens=written,
        reasoning_output_tokens=reasoning,
        cost_usd=dollars(cost),
        model=model,
        message_id=message_id or None,
    )


def error_of(error: Any) -> ErrorPayload:
    """An error as OpenCode names it, with what the provider said."""
    error = a_dict(error)
    name, data = a_str(error.get("name")), a_dict(error.get("data"))
    status = count_of(data.get("statusCode"))
    retryable = data.get("isRetryable")
    return ErrorPayload(
        message=a_str(data.get("message")) or a_str(error.get("message")) or name or "OpenCode failed without a word",
        code=str(status) if status else name or None,
        retryable=retryable if isinstance(retryable, bool) else None,
    )


def result_of(name: str, call_id: str, state: dict[str, Any], output: Any) -> ToolPayload:
    """The end of a call. A command's exit code other than 0 goes with its output; it is not an error of the tool."""
    error = None
    blocks: tuple[Block, ...] | None = None
    if state.get("status") == "error":
        output = state.get("error") if output is None else output
        error = a_str(state.get("error")) or "The tool failed."
    code = a_dict(state.get("metadata")).get("exit")
    attachments = [each for each in a_list(state.get("attachments")) if isinstance(each, dict)]
    if code.__class__ is int and code != 0 and abs(code) < _TOO_MANY:
        output = {"output": output, "exit": code}
    elif attachments:
        text = [TextBlock(fidelity=EMITTED, text=output)] if isinstance(output, str) and output else []
        blocks, output = (*text, *map(file_block, attachments)), None
    return ToolPayload(
        name=name,
        call_id=call_id,
        input=None,
        output=output,
        error=error,
        fidelity=EMITTED,
        duration_ms=_duration(a_dict(state.get("time"))),
        blocks=blocks,
    )


def _duration(time: dict[str, Any]) -> float | None:
    start, end = count_of(time.get("start")), count_of(time.get("end"))
    return float(end - start) if start and end >= start else None
