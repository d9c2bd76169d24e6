"""Markdown as HTML: CommonMark with tables, parsed by markdown-it-py, written by us. HTML in it is escaped.

What CommonMark would drop stays: link definitions, entities and images are shown as typed, a table with more cells
than columns is shown as its source. Only addresses of http or https with plain characters become links.
Headings begin below those of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from stenograph.render.html import diff
from stenograph.render.html.escape import line, pre, text
from stenograph.render.html.highlight import Highlighter

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 100_000
"""Longer texts are not parsed but shown as typed."""
LONGEST_LINE = 20_000
"""A longer line is not prose, and parsing its marks could take too long."""
_URL = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9\-._~:/?#@!$&*+,;=%]{0,2000}")
_TRAILING = ".,;:!?*~_"
_MARKS = re.compile(r"[`*~\\\t│├└]")
_LEADS = re.compile(r"\n(?: {0,3}(?:[-+=>#|:]|\d+[.)])| {4})")
_UNDERSCORE = re.compile(r"\b_|_\b|(?<!\w)_")
_DRAWING = ("│", "├", "└")
"""How the lines of a tree of files begin."""
_PARAGRAPHS = re.compile(r"\n[ ]*(?:\n[ ]*)+")
_ALIGNMENT = {"text-align:left": "left", "text-align:right": "right", "text-align:center": "center"}
_TAGS = {"strong_open": "strong", "em_open": "em", "s_open": "s"}
_DIFFS = ("diff", "patch")


def prose(markdown: str, highlighter: Highlighter | None = None) -> str:
    """Markdown as HTML."""
    source = markdown.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "␀")
    if len(source) > LONGEST or _longest_line(source) > LONGEST_LINE:
        return plain(markdown)
    if not has_markup(source):
        return _paragraphs(source)
    return _Prose(source, highlighter or Highlighter()).html()


def _longest_line(source: str) -> int:
    return len(source) if len(source) <= LONGEST_LINE else max(map(len, source.split("\n")))


def has_markup(words: str) -> bool:
    """Whether a text may be more than paragraphs; each test begins with characters that are quick to find."""
    return (
        "](" in words
        or "\n  " in words
        or "http" in words
        or _MARKS.search(words) is not None
        or _LEADS.search(f"\n{words}") is not None
        or ("_" in words and _UNDERSCORE.search(words) is not None)
    )


def plain(words: str, kind: str = "said") -> str:
    """Text as it was typed."""
    return f'<div class="{kind}" dir="auto">{text(words)}</div>'


def _paragraphs(source: str) -> str:
    """A text without any mark: what the parser would return, without calling it."""
    paragraphs = _PARAGRAPHS.split(source.strip(" \n"))
    return "".join(f'<p dir="auto">{text(_unindented(paragraph))}</p>' for paragraph in paragraphs if paragraph)


def _unindented(paragraph: str) -> str:
    if " \n" not in paragraph and "\n " not in paragraph:
        return paragraph
    return "\n".join(each.strip(" ") for each in paragraph.split("\n"))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # slow to import

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["reference", "entity", "image", "html_block", "html_inline"])
    parser.validateLink = _is_safe  # type: ignore[method-assign]  # how the parser is configured
    parser.normalizeLink = _as_typed  # type: ignore[method-assign]
    parser.normalizeLinkText = _as_typed  # type: ignore[method-assign, assignment]
    return parser


def _is_safe(url: str) -> bool:
    return _URL.fullmatch(url) is not None


def _as_typed(url: str) -> str:
    return url


def _link(url: str, title: str = "") -> str:
    attribute = f' title="{line(title)}"' if title else ""
    return f'<a href="{text(url)}"{attribute} rel="noopener noreferrer nofollow">'


def _linked(words: str) -> str:
    """Text in which bare addresses are links."""
    if "http" not in words:
        return text(words)
    parts: list[str] = []
    end = 0
    for found in _URL.finditer(words):
        url = found[0].rstrip(_TRAILING)
        parts += [text(words[end : found.start()]), f"{_link(url)}{text(url)}</a>"]
        end = found.start() + len(url)
    return "".join(parts) + text(words[end:])


class _Prose:
    """One text while its tokens are written."""

    def __init__(self, source: str, highlighter: Highlighter) -> None:
        self._source = source
        self._lines = source.split("\n")
        self._highlighter = highlighter
        self._lists: list[int | None] = []
        """The number that the next item has by itself, for each surrounding list; None in one without numbers."""
        self._parts: list[str] = []

    def html(self) -> str:
        tokens = _parser().parse(self._source)
        at = 0
        while at < len(tokens):
            at = self._write(tokens, at)
        return "".join(self._parts)

    def _write(self, tokens: Sequence[Token], at: int) -> int:
        """Write one token; returns the place of the next."""
        token = tokens[at]
        match token.type:
            case "inline":
                self._parts.append(_inline(token.children or []))
            case "paragraph_open" if token.level == 0 and (drawn := self._drawn(token)):
                self._parts.append(pre(drawn))
                return at + 3
            case "paragraph_open":
                self._parts.append("" if token.hidden else '<p dir="auto">')
            case "paragraph_close":
                self._parts.append("" if token.hidden else "</p>")
            case "heading_open" | "heading_close":
                level = min(6, int(token.tag[1]) + 2)
                self._parts.append(f'<h{level} dir="auto">' if token.nesting > 0 else f"</h{level}>")
            case "fence":
                self._parts.append(self._fence(token.content, token.info.strip()))
            case "code_block":
                self._parts.append(pre(token.content.removesuffix("\n")))
            case "table_open":
                return self._table(tokens, at)
            case "hr":
                self._parts.append("<hr>")
            case _:
                self._container(token)
        return at + 1

    def _drawn(self, token: Token) -> str:
        """The source of a paragraph that is only readable as typed: indented lines, trees of files."""
        first, last = token.map or (0, 0)
        lines = self._lines[first:last]
        is_drawn = any(each.startswith("  ") or each[:1] in _DRAWING for each in lines[1:] if each)
        return "\n".join(lines) if is_drawn else ""

    def _container(self, token: Token) -> None:
        if token.nesting < 0:
            if token.type.endswith("_list_close"):
                self._lists.pop()
            self._parts.append(f"</{token.tag}>" + ("</div>" if token.tag == "table" else ""))
            return
        attributes = ""
        if token.type.endswith("_list_open"):
            start = int(token.attrGet("start") or 1) if token.tag == "ol" else None
            self._lists.append(start)
            attributes = f' start="{start}"' if start not in (None, 1) else ""
        elif token.type == "list_item_open":
            attributes = f'{self._number(token.info)} dir="auto"'
        elif token.tag in ("th", "td"):
            aligned = _ALIGNMENT.get(str(token.attrGet("style") or ""))  # a class, as the policy forbids styles
            attributes = f' class="{aligned}" dir="auto"' if aligned else ' dir="auto"'
        self._parts.append(f"<{token.tag}{attributes}>")

    def _number(self, info: str) -> str:
        """The number of an item, where it differs from its position."""
        expected = self._lists[-1]
        if expected is None:
            return ""
        number = int(info) if info.isascii() and info.isdigit() else expected
        self._lists[-1] = number + 1
        return "" if number == expected else f' value="{number}"'

    def _fence(self, code: str, info: str) -> str:
        body = code.removesuffix("\n")
        language = info.split(" ")[0].lower()
        if language in _DIFFS:
            return diff.patch(body)
        label = f'<span class="lang">{line(info)}</span>' if info else ""
        return f'<div class="code">{label}{self._highlighter.pre(body, language=language)}</div>'

    def _table(self, tokens: Sequence[Token], at: int) -> int:
        """A table; its source where a row has more cells than there are columns, which no table can show."""
        token = tokens[at]
        first, last = token.map or (0, 0)
        rows = self._lines[first:last]
        columns = sum(1 for each in tokens[at : _after(tokens, at, "thead_close")] if each.type == "th_open")
        if any(len(re.findall(r"(?<!\\)\|", row.strip().strip("|"))) >= columns for row in rows):
            self._parts.append(pre("\n".join(rows)))
            return _after(tokens, at, "table_close")
        self._parts.append('<div class="table"><table>')
        return at + 1


def _after(tokens: Sequence[Token], at: int, kind: str) -> int:
    return next(number for number in range(at, len(tokens)) if tokens[number].type == kind) + 1


def _inline(tokens: Sequence[Token]) -> str:
    parts: list[str] = []
    linked: Callable[[str], str] = _linked
    for token in tokens:
        match token.type:
            case "text":
                parts.append(linked(token.content))
            case "softbreak" | "hardbreak":
                parts.append("\n")
            case "code_inline":
                parts.append(f"<code>{text(token.content)}</code>")
            case "link_open":
                parts.append(_link(str(token.attrGet("href") or ""), str(token.attrGet("title") or "")))
                linked = text
            case "link_close":
                parts.append("</a>")
                linked = _linked
            case kind if kind in _TAGS:
                parts.append(f"<{_TAGS[kind]}>")
            case kind if kind.replace("_close", "_open") in _TAGS:
                parts.append(f"</{_TAGS[kind.replace('_close', '_open')]}>")
            case _:
                parts.append(text(token.content))
    return "".join(parts)
