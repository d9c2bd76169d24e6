"""Parts of messages, results and tokens, as Kimi Code writes them."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import FAR, a_dict, a_list, a_str, first_str
from stenograph.formats.shared.model_api.media import from_url
from stenograph.formats.shared.model_api.parts import FIDELITY, block_of, outcome, plain_text
from stenograph.formats.shared.usage import UsageFields
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, ThinkingBlock
from stenograph.model.payload import ErrorPayload, ToolPayload

USAGE = UsageFields(
    input=("inputOther",),
    output=("output",),
    cache_read=("inputCacheRead",),
    cache_write=("inputCacheCreation",),
    input_has_cache=False,
)
_MEDIA = ("imageUrl", "audioUrl", "videoUrl")


def blocks_in(content: Any) -> list[Block]:
    """The blocks of a message's content."""
    return [block for part in a_list(content) if (block := part_of(part)) is not None]


def part_of(part: Any) -> Block | None:
    """One part; None for an empty text."""
    fields = a_dict(part)
    if fields.get("type") == "think":
        thought, key = a_str(fields.get("think")), first_str(fields, "encrypted")
        return ThinkingBlock(fidelity=FIDELITY, thinking=thought, encrypted_content=key) if thought or key else None
    for name in _MEDIA:
        if isinstance(fields.get(name), dict):
            return from_url(a_str(fields[name].get("url"))) or verbatim(part)
    return block_of(part)


def result_of(call_id: str, name: str, result: dict[str, Any]) -> ToolPayload:
    """What a tool gave back: a text, or parts; `isError` says that it failed."""
    content = result.get("output")
    output, blocks = outcome(content)
    if isinstance(content, list) and blocks is not None:
        output, blocks = None, tuple(blocks_in(content))
    error = None
    if result.get("isError") is True:
        error = (output if isinstance(output, str) else plain_text(content)) or "failed"
    took = result.get("durationMs")
    is_time = isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took < FAR
    return ToolPayload(
        name=name,
        call_id=call_id,
        input=None,
        output=output,
        error=error,
        fidelity=FIDELITY,
        duration_ms=float(took) if is_time and took is not None else None,
        blocks=blocks,
    )


def error_of(error: dict[str, Any]) -> ErrorPayload:
    """Why a turn failed."""
    retryable = error.get("retryable")
    return ErrorPayload(
        message=first_str(error, "message", "name") or "the turn failed",
        code=first_str(error, "code"),
        retryable=retryable if isinstance(retryable, bool) else None,
        data=error.get("details"),
    )
