"""Parts of messages, as both programs of Kimi write them; each has its own names for media."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.shared.loose import a_dict, a_list, a_str, first_str
from stenograph.formats.shared.model_api.media import from_url
from stenograph.formats.shared.model_api.parts import FIDELITY, block_of, outcome
from stenograph.formats.shared.verbatim import verbatim
from stenograph.model.block import Block, ThinkingBlock


def blocks_of(content: Any, media: Sequence[str]) -> list[Block]:
    """The blocks of a list of parts."""
    return [block for part in a_list(content) if (block := part_block(part, media)) is not None]


def part_block(part: Any, media: Sequence[str]) -> Block | None:
    """One part; None for an empty text."""
    fields = a_dict(part)
    if fields.get("type") == "think":
        thought, key = a_str(fields.get("think")), first_str(fields, "encrypted")
        return ThinkingBlock(fidelity=FIDELITY, thinking=thought, encrypted_content=key) if thought or key else None
    for name in media:
        if isinstance(fields.get(name), dict):
            return from_url(a_str(fields[name].get("url"))) or verbatim(part)
    return block_of(part)


def output_of(content: Any, media: Sequence[str]) -> tuple[Any, tuple[Block, ...] | None]:
    """A tool's result: an output, or blocks when it has parts that a text cannot hold."""
    output, blocks = outcome(content)
    if isinstance(content, list) and blocks is not None:
        return None, tuple(blocks_of(content, media))
    return output, blocks
