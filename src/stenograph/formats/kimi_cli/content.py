"""Parts of messages, results and tokens, as kimi-cli writes them."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str
from stenograph.formats.shared.model_api.media import from_url
from stenograph.formats.shared.model_api.parts import FIDELITY, block_of, outcome, plain_text, text_block
from stenograph.formats.shared.usage import UsageFields
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, ThinkingBlock
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


def result_of(call_id: str, name: str, value: dict[str, Any]) -> ToolPayload:
    """What a tool gave back; what the program says of it is the error of one that failed."""
    content = value.get("output")
    output, blocks = outcome(content)
    if isinstance(content, list) and blocks is not None:
        output, blocks = None, tuple(blocks_in(content))
    error = None
    if value.get("is_error") is True:
        error = first_str(value, "message") or plain_text(content) or "failed"
    return ToolPayload(
        name=name, call_id=call_id, input=None, output=output, error=error, fidelity=FIDELITY, blocks=blocks
    )
