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
from stenograph.render.html.highlight import Highlighter
from stenograph.render.html.output import folded, given_html
from stenograph.render.html.prose import has_markup, plain, prose
from stenograph.render.outline import on_a_line
from stenograph.transcript.content import as_text, block_text

PREVIEW_LENGTH = 90
LONG_CHARACTERS = 8_000
LONG_LINES = 60
"""Beyond these, what somebody said is folded after about half of them."""
IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
"""What a browser may draw from a transcript; an SVG is a program."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def block_html(
    block: Block, *, is_user: bool, full: bool, untold: frozenset[str], highlighter: Highlighter | None = None
) -> str:
    """One block; nothing for a tool block that an event of its own tells."""
    match block:
        case TextBlock(text=words):
            return said(words, is_user=is_user, full=full, highlighter=highlighter) if words.strip() else ""
        case ThinkingBlock(thinking=words):
            return thinking(words) if words.strip() else ""
        case ToolUseBlock() | ToolResultBlock():
            return _untold(block, full=full) if block.tool_id in untold else ""
        case AttachmentBlock():
            return attachment(block)
        case StreamBlock() | CommandBlock():
            return folded(block_text(block), full=full)
    return pre(block_text(block))


def said(words: str, *, is_user: bool, full: bool, highlighter: Highlighter | None = None) -> str:
    """What somebody said, as Markdown, folded where it is long; what a person typed also as it was typed."""
    head, rest = (words, "") if full else split_prose(words)
    shown = f'<div class="md">{prose(head, highlighter)}</div>' if head else ""
    if rest:
        lines = rest.count("\n") + 1
        told = f"{lines:,} more line{'s' if lines > 1 else ''}, {len(rest):,} characters"
        label = told if head else f"{line(on_a_line(words, PREVIEW_LENGTH))} <small>{told.replace(' more', '')}</small>"
        shown += (
            f'<details class="more long"><summary>{label}</summary>'
            f'<div class="md">{prose(rest, highlighter)}</div></details>'
        )
    if not is_user or not has_markup(words):
        return shown
    return f'{shown}<details class="raw"><summary>as typed</summary>{plain(words)}</details>'


def split_prose(words: str) -> tuple[str, str]:
    """The part of a text that is always shown, and the rest: cut between two blocks, or all of it is the rest."""
    if len(words) <= LONG_CHARACTERS and words.count("\n") <= LONG_LINES:
        return words, ""
    best = at = 0
    inside = False
    for number, each in enumerate(words[: LONG_CHARACTERS // 2].split("\n")[: LONG_LINES // 2]):
        if not inside and number and _begins_block(each, words[:at]):
            best = at
        if each.lstrip().startswith(("```", "~~~")):
            inside = not inside
        at += len(each) + 1
    return words[:best], words[best:]


def _begins_block(each: str, before: str) -> bool:
    """Whether a line begins a block at the margin, after an empty line."""
    return before.endswith("\n\n") and bool(each.strip()) and not each.startswith((" ", "\t"))


def thinking(words: str) -> str:
    """What the agent thought, folded, with how it begins."""
    begins = line(on_a_line(words[: 4 * PREVIEW_LENGTH].replace("**", ""), PREVIEW_LENGTH))
    size = f"{len(words):,} characters"
    head = f'<details class="think"><summary>Thinking <small>{begins} · {size}</small></summary>'
    return f"{head}{plain(words)}</details>"


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
