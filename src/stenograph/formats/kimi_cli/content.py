"""Parts of messages, results and tokens, as kimi-cli writes them."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.kimi_parts import blocks_of, output_of, part_block
from stenograph.formats.shared.loose import first_str
from stenograph.formats.shared.model_api.parts import FIDELITY, plain_text, text_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.model.block import Block
from stenograph.model.payload import ToolPayload

USAGE = UsageFields(
    input=("input_other",),
    output=("output",),
    cache_read=("input_cache_read",),
    cache_write=("input_cache_creation",),
    input_has_cache=False,
)
_MEDIA = ("image_url", "audio_url", "video_url")


def blocks_in(content: Any) -> list[Block]:
    """The blocks of what was said: a text, or parts."""
    if isinstance(content, str):
        return [text_block(content)] if content else []
    return blocks_of(content, _MEDIA)


def part_of(part: Any) -> Block | None:
    """One part; None for an empty text."""
    return part_block(part, _MEDIA)


def result_of(call_id: str, name: str, value: dict[str, Any]) -> ToolPayload:
    """A tool's result; the program's message is the error if it failed."""
    content = value.get("output")
    output, blocks = output_of(content, _MEDIA)
    error = None
    if value.get("is_error") is True:
        error = first_str(value, "message") or plain_text(content) or "failed"
    return ToolPayload(
        name=name, call_id=call_id, input=None, output=output, error=error, fidelity=FIDELITY, blocks=blocks
    )
