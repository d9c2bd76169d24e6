"""The blocks of a message as HTML."""

from __future__ import annotations

import re

from stenograph.model.block import (
    AttachmentBlock,
    Block,
    CommandBlock,
    StreamBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from stenograph.render.html.escape import line, pre, text
from stenograph.render.html.output import folded, given_html
from stenograph.render.html.prose import plain, prose
from stenograph.transcript.content import as_text, block_text

IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
"""What a browser may draw from a transcript; an SVG is a program."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def block_html(block: Block, *, is_prose: bool, full: bool, untold: frozenset[str]) -> str:
    """One block; nothing for a tool block that an event of its own tells."""
    match block:
        case TextBlock(text=words):
            if not words.strip():
                return ""
            return f'<div class="md">{prose(words)}</div>' if is_prose else plain(words)
        case ThinkingBlock(thinking=words):
            return thinking(words) if words.strip() else ""
        case ToolUseBlock() | ToolResultBlock():
            return _untold(block, full=full) if block.tool_id in untold else ""
        case AttachmentBlock():
            return attachment(block)
        case StreamBlock() | CommandBlock():
            return folded(block_text(block), full=full)
    return pre(block_text(block))


def thinking(words: str) -> str:
    """What the agent thought, folded."""
    size = f"{len(words):,} characters"
    return f'<details class="think"><summary>Thinking <small>{size}</small></summary>{plain(words)}</details>'


def attachment(block: AttachmentBlock) -> str:
    """An image of a kind that browsers draw safely; anything else by its name."""
    told = line(f"{block.media_type}, {block.size:,} bytes")
    if block.media_type in IMAGES and block.data and _BASE64.fullmatch(block.data):
        return f'<img alt="{told}" src="data:{block.media_type};base64,{block.data}">'
    return f'<p class="empty">[{told}]</p>'


def _untold(block: ToolUseBlock | ToolResultBlock, *, full: bool) -> str:
    if isinstance(block, ToolUseBlock):
        return f'<div class="who">asks for {line(block.tool_name)}</div>{given_html(block.tool_input, full=full)}'
    return f'<div class="who">result of {line(block.tool_id)}</div>{folded(as_text(block.tool_content), full=full)}'


def system_prompt(words: str) -> str:
    """The system prompt, folded."""
    size = f"{len(words):,} characters"
    head = f'<details class="think"><summary>System prompt <small>{size}</small></summary>'
    return f'{head}<div class="said" dir="auto">{text(words)}</div></details>'
