"""Markdown as agents write it, as HTML: headings, lists, quotes, tables, code. Total; linear; no HTML passes through.

What it does not know stays text. Headings begin below those of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from stenograph.render.html import diff
from stenograph.render.html.escape import line, pre, text
from stenograph.render.html.inline import inline

DEEPEST = 6
_FENCE = re.compile(r" {0,12}(`{3,}|~{3,})([^`]*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*)$")
_ITEM = re.compile(r"( {0,40})([-*+]|\d{1,9}[.)])(?:\s+(\S.*)?)?$")
_RULES = "-*_"


def prose(markdown: str, depth: int = 0) -> str:
    """Markdown as HTML."""
    return _Prose(markdown.replace("\r\n", "\n").expandtabs(4).split("\n"), depth).html()


class _Prose:
    """The lines of a text while they are read; `_at` is the next one."""

    def __init__(self, lines: list[str], depth: int) -> None:
        self._lines = lines
        self._depth = depth
        self._at = 0

    def html(self) -> str:
        parts: list[str] = []
        kinds: list[Callable[[str], str | None]] = [
            self._fence, self._heading, self._rule, self._quote, self._table, self._list
        ]  # fmt: skip
        while self._at < len(self._lines):
            first = self._lines[self._at]
            if not first.strip():
                self._at += 1
                continue
            if _begins_with_a_letter(first) and "|" not in first:
                parts.append(self._passage())
                continue
            parts.append(next((html for kind in kinds if (html := kind(first)) is not None), None) or self._passage())
        return "".join(parts)

    def _taken(self, goes_on: Callable[[str], bool]) -> list[str]:
        """The lines from here on that belong together."""
        start = self._at
        self._at += 1
        while self._at < len(self._lines) and goes_on(self._lines[self._at]):
            self._at += 1
        return self._lines[start : self._at]

    def _fence(self, first: str) -> str | None:
        opening = _FENCE.match(first)
        if opening is None:
            return None
        mark, language = opening[1], opening[2].strip()
        code = self._taken(lambda each: not _closes(each, mark))[1:]
        self._at += 1  # the closing fence, or the end
        body = "\n".join(code)
        if language == "diff" or language == "patch":
            return diff.patch(body)
        label = f'<span class="lang">{line(language[:40])}</span>' if language else ""
        return f'<div class="code">{label}{pre(body)}</div>'

    def _heading(self, first: str) -> str | None:
        found = _HEADING.match(first)
        if found is None:
            return None
        self._at += 1
        level = min(6, len(found[1]) + 2)
        return f'<h{level} dir="auto">{inline(found[2].rstrip(" #"))}</h{level}>'

    def _rule(self, first: str) -> str | None:
        mark = first.lstrip(" ")[:1]
        if mark not in _RULES or len(first.replace(" ", "")) < 3 or first.strip(f" {mark}"):
            return None
        self._at += 1
        return "<hr>"

    def _quote(self, first: str) -> str | None:
        if not first.lstrip().startswith(">") or self._depth >= DEEPEST:
            return None
        quoted = [each.lstrip()[1:].removeprefix(" ") for each in self._taken(lambda each: each.lstrip()[:1] == ">")]
        return f"<blockquote>{_Prose(quoted, self._depth + 1).html()}</blockquote>"

    def _table(self, first: str) -> str | None:
        below = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        if "|" not in first or "-" not in below or "|" not in below or below.strip("|:- "):
            return None
        head, _, *rows = self._taken(lambda each: "|" in each)
        body = "".join(_row("td", row) for row in rows)
        return f'<div class="table"><table><thead>{_row("th", head)}</thead><tbody>{body}</tbody></table></div>'

    def _list(self, first: str) -> str | None:
        if not _ITEM.match(first):
            return None
        items: list[tuple[int, str, list[str]]] = []
        while self._at < len(self._lines):
            each = self._lines[self._at]
            found = _ITEM.match(each)
            if found is not None:
                items.append((len(found[1]), found[2], [found[3] or ""]))
            elif not each.strip() or _FENCE.match(each) or _HEADING.match(each):
                if not self._list_goes_on():
                    break
            else:
                items[-1][2].append(each.strip())
            self._at += 1
        return _nested(items)

    def _list_goes_on(self) -> bool:
        """Whether an empty line stands between two items, and not at the end of the list."""
        after = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        return not self._lines[self._at].strip() and _ITEM.match(after) is not None

    def _passage(self) -> str:
        lines = self._taken(lambda each: bool(each.strip()) and not _begins_block(each))
        passage = "\n".join(lines)
        return f'<p dir="auto">{inline(passage)}</p>'


def _closes(each: str, mark: str) -> bool:
    bare = each.strip()
    return len(bare) >= len(mark) and set(bare) == {mark[0]}


def _begins_with_a_letter(each: str) -> bool:
    """Whether a line is neither empty nor the beginning of a block, tables aside."""
    return each.lstrip(" ")[:1].isalpha()


def _begins_block(each: str) -> bool:
    if _begins_with_a_letter(each):
        return False
    return bool(_FENCE.match(each) or _HEADING.match(each) or _ITEM.match(each)) or each.lstrip().startswith(">")


def _row(tag: str, row: str) -> str:
    bare = row.strip().removeprefix("|").removesuffix("|")
    cells = [inline(cell.strip().replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", bare)]
    return "<tr>" + "".join(f'<{tag} dir="auto">{cell}</{tag}>' for cell in cells) + "</tr>"


def _nested(items: list[tuple[int, str, list[str]]]) -> str:
    """Items as lists in lists, by how far they are indented."""
    parts: list[str] = []
    open_lists: list[tuple[int, str]] = []
    for indent, mark, lines in items:
        while len(open_lists) > 1 and indent < open_lists[-1][0]:
            parts.append(f"</li></{open_lists.pop()[1]}>")
        if not open_lists or (indent > open_lists[-1][0] + 1 and len(open_lists) < DEEPEST):
            tag = "ul" if mark in "-*+" else "ol"
            start = "" if tag == "ul" or mark[:-1] == "1" else f' start="{int(mark[:-1])}"'
            parts.append(f"<{tag}{start}>")
            open_lists.append((indent, tag))
        else:
            parts.append("</li>")
        passage = "\n".join(lines)
        parts.append(f'<li dir="auto">{inline(passage)}')
    parts += [f"</li></{tag}>" for _, tag in reversed(open_lists)]
    return "".join(parts)


def plain(words: str, kind: str = "said") -> str:
    """Text as it was typed."""
    return f'<div class="{kind}" dir="auto">{text(words)}</div>'
