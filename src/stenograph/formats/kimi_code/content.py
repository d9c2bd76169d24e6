"""Parts of messages, results and tokens, as Kimi Code writes them."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.kimi_parts import blocks_of, output_of, part_block
from stenograph.formats.shared.loose import FAR, first_str
from stenograph.formats.shared.model_api.parts import FIDELITY, plain_text
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block
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
    return blocks_of(content, _MEDIA)


def part_of(part: Any) -> Block | None:
    """One part; None for an empty text."""
    return part_block(part, _MEDIA)


def result_of(call_id: str, name: str, result: dict[str, Any]) -> ToolPayload:
    """A tool's result: a text, or parts; `isError` says that it failed."""
    content = result.get("output")
    output, blocks = output_of(content, _MEDIA)
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
