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
from stenograph.render.html.output import folded, input_html
from stenograph.render.html.prose import has_markup, plain, prose
from stenograph.render.page_facts import on_a_line
from stenograph.transcript.content import as_text, block_text

PREVIEW_LENGTH = 90
LONG_CHARACTERS = 8_000
LONG_LINES = 60
"""Longer messages are folded after about half of these."""
IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
"""Images that a browser may draw from a transcript; an SVG is a program."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


def block_html(
    block: Block, *, is_user: bool, full: bool, orphans: frozenset[str], highlighter: Highlighter | None = None
) -> str:
    """One block; nothing for a tool block that has an event of its own."""
    match block:
        case TextBlock(text=words):
            return message_html(words, is_user=is_user, full=full, highlighter=highlighter) if words.strip() else ""
        case ThinkingBlock(thinking=words):
            return thinking(words) if words.strip() else ""
        case ToolUseBlock() | ToolResultBlock():
            return _orphan(block, full=full) if block.tool_id in orphans else ""
        case AttachmentBlock():
            return attachment(block)
        case StreamBlock() | CommandBlock():
            return folded(block_text(block), full=full)
    return pre(block_text(block))


def message_html(words: str, *, is_user: bool, full: bool, highlighter: Highlighter | None = None) -> str:
    """A message's text, as Markdown, folded where it is long; a person's text also as it was typed."""
    head, rest = (words, "") if full else split_prose(words)
    shown = f'<div class="md">{prose(head, highlighter)}</div>' if head else ""
    if rest:
        lines = rest.count("\n") + 1
        size = f"{lines:,} more line{'s' if lines > 1 else ''}, {len(rest):,} characters"
        label = size if head else f"{line(on_a_line(words, PREVIEW_LENGTH))} <small>{size.replace(' more', '')}</small>"
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
    """The agent's thinking, folded, with its beginning."""
    begins = line(on_a_line(words[: 4 * PREVIEW_LENGTH].replace("**", ""), PREVIEW_LENGTH))
    size = f"{len(words):,} characters"
    head = f'<details class="think"><summary>Thinking <small>{begins} · {size}</small></summary>'
    return f"{head}{plain(words)}</details>"


def attachment(block: AttachmentBlock) -> str:
    """An image of a type that browsers draw safely; any other attachment by its name."""
    about = line(f"{block.media_type}, {block.size:,} bytes")
    if block.media_type in IMAGES and block.data and _BASE64.fullmatch(block.data):
        return f'<img alt="{about}" src="data:{block.media_type};base64,{block.data}">'
    return f'<p class="empty">[{about}]</p>'


def _orphan(block: ToolUseBlock | ToolResultBlock, *, full: bool) -> str:
    if isinstance(block, ToolUseBlock):
        return f'<div class="who">asks for {line(block.tool_name)}</div>{input_html(block.tool_input, full=full)}'
    return f'<div class="who">result of {line(block.tool_id)}</div>{folded(as_text(block.tool_content), full=full)}'


def system_prompt(words: str) -> str:
    """The system prompt, folded."""
    size = f"{len(words):,} characters"
    head = f'<details class="think"><summary>System prompt <small>{size}</small></summary>'
    return f'{head}<div class="said" dir="auto">{text(words)}</div></details>'
