"""What a message says, without what is told elsewhere."""

from __future__ import annotations

from stenograph.model.block import Block, TextBlock
from stenograph.model.payload import MessagePayload


def spoken(payload: MessagePayload) -> tuple[Block, ...]:
    """The blocks without the system prompt, which a user message also has as its last text."""
    blocks = payload.blocks
    if payload.system_prompt is None:
        return blocks
    for number in reversed(range(len(blocks))):
        block = blocks[number]
        if isinstance(block, TextBlock):
            is_prompt = block.text == payload.system_prompt
            return blocks[:number] + blocks[number + 1 :] if is_prompt else blocks
    return blocks
