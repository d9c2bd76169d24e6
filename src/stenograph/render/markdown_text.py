"""Text inside Markdown: typed text is shown as it is, tool outputs cannot end their fence, agents' Markdown is made
harmless.

Theory of operation. Renderers disagree about where a code span or a block ends, so nothing here relies on it: outside
of our own fences every `<` and `&` is an entity, except in code spans that all renderers read alike. Those are on
one line, have no backtick inside, no backslash before and no table bar in them; every other backtick is an entity.
"""

from __future__ import annotations

import re

from stenograph.render.control_chars import visible

_MARKS = "\\*_[]#|~!$"
_LEAD = re.compile(r"[-+=]|\d+(?=[.)](?:\s|$))")
"""Characters that make a line an item or a heading when it begins with them."""
_FENCE = re.compile(r" {0,12}(`{3,}|~{3,})([^`]*)$")
_SPAN = re.compile(r"(?<![`\\])(`{1,3})(?!`)([^`\n|\\]+)(?<!`)\1(?!`)")
_LINK = re.compile(r"\]\((?!https?://)")
_HEADING = re.compile(r"([\s>*+\-0-9.)]*?)(#{1,6})(?:\s+(.*))?$")
_UNDERLINE = re.compile(r"[\s>]*(=+|-+)\s*$")
_LONGEST_LEAD = 200


def escaped(words: str) -> str:
    """Text that Markdown shows unchanged."""
    return "\n".join(map(_without_lead, _without_marks(visible(words)).split("\n")))


def _without_marks(words: str) -> str:
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in _MARKS:
        if mark in words:
            words = words.replace(mark, f"\\{mark}")
    return words.replace("`", "&#96;")


def _without_lead(line: str) -> str:
    found = _LEAD.match(line)
    if found is None:
        return line
    lead = found[0]
    if lead.isdigit():  # a backslash would have to follow it
        return f"{lead[:-1]}&#{ord(lead[-1])};{line[found.end() :]}"
    return f"\\{line}"


def html_text(words: str) -> str:
    """Text inside one of our HTML elements."""
    return visible(words).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fenced(words: str, language: str = "") -> str:
    """Text in a fence that it cannot end."""
    shown = visible(words)
    longest = max(map(len, re.findall("`{3,}", shown))) if "```" in shown else 2
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{shown}\n{fence}\n\n"


def quoted(words: str) -> str:
    """Text as it was typed, as a quotation."""
    return "\n".join(f"> {each}" for each in _kept_lines(words)) + "\n\n"


def paragraph(words: str) -> str:
    """Text as it was typed."""
    return "\n".join(_kept_lines(words)) + "\n\n"


def _kept_lines(words: str) -> list[str]:
    """Lines that stay lines, with their leading spaces."""
    lines = []
    for each in _without_marks(visible(words)).replace("\t", "    ").strip("\n").split("\n"):
        bare = each.lstrip(" ")
        lines.append("&nbsp;" * (len(each) - len(bare)) + _without_lead(bare) + "\\" if bare.strip() else "&nbsp;\\")
    lines[-1] = lines[-1].removesuffix("\\")
    return lines


def safe_markdown(words: str) -> str:
    """Markdown that an agent wrote: its fences closed; outside of them no HTML, headings or images."""
    parts: list[str] = []
    lines = iter(visible(words).split("\n"))
    for each in lines:
        opening = _FENCE.match(each)
        if opening is None:
            parts.append(_harmless_line(each) + "\n")
            continue
        code: list[str] = []
        for inner in lines:
            if _closes(inner, opening[1]):
                break
            code.append(inner)
        language = re.sub(r"[^A-Za-z0-9+-]", "", opening[2])[:30]
        parts.append("\n" + fenced("\n".join(code), language))
    return "".join(parts).strip("\n") + "\n\n"


def _closes(each: str, mark: str) -> bool:
    bare = each.strip()
    return len(bare) >= len(mark) and set(bare) == {mark[0]}


def _harmless_line(each: str) -> str:
    """One line outside of fences."""
    underline = _UNDERLINE.match(each)
    if underline is not None:
        if underline[1].startswith("---"):
            return "\n* * *\n"
        return f"{each[: underline.start(1)]}\\{each[underline.start(1) :]}"
    heading = _HEADING.match(each[:_LONGEST_LEAD]) if "#" in each[:_LONGEST_LEAD] else None
    if heading is not None:
        rest = each[heading.end(2) :].strip(" #")
        return (
            f"{heading[1]}\\{heading[2]} {_inline(rest)}"
            if "*" in rest or not rest
            else f"{heading[1]}**{_inline(rest)}**"
        )
    return _inline(each)


def _inline(each: str) -> str:
    if "`" not in each:
        return _without_html(each)
    parts: list[str] = []
    end = 0
    for span in _SPAN.finditer(each):
        parts += [_without_html(each[end : span.start()]), span[0]]
        end = span.end()
    return "".join([*parts, _without_html(each[end:])])


def _without_html(words: str) -> str:
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace("`", "&#96;")
    words = words.replace("![", "!\\[").replace("]:", "]\\:")
    return _LINK.sub(r"]\\(", words) if "](" in words else words
