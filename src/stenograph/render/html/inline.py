"""Markdown inside a line: code, strong, emphasis, links. Total, linear, and everything in it escaped.

A link is one only when it leads to http or https by plain characters; anything else stays the text that it is.
"""

from __future__ import annotations

import re
from collections import defaultdict

from stenograph.render.html.escape import text

LONGEST = 20_000
"""Longer passages are no prose; they stay plain."""
_REST = r"[A-Za-z0-9\-._~:/?#@!$&*+,;=%]{0,2000}"
_URL = rf"https?://[A-Za-z0-9]{_REST}"
# Begins with one set of characters, for which the engine scans quickly, and looks back at which it was.
_TOKEN = re.compile(
    r"[`*~\[\\h](?:(?P<tick>(?<=`)`*)|(?P<mark>(?<=\*)\*?|(?<=~)~)"
    rf"|(?<=\[)(?P<label>[^\[\]\n]{{1,300}})\]\((?P<link>{_URL})\)"
    rf"|(?P<url>(?<=h)ttps?://[A-Za-z0-9]{_REST})|(?P<escape>(?<=\\)[*`\[\]~_#\\]))"
)
_TAGS = {"**": "strong", "*": "em", "~~": "s"}
_TRAILING = ".,;:!?*~_"


def inline(passage: str) -> str:
    """One passage of Markdown as HTML."""
    if len(passage) > LONGEST:
        return text(passage)
    return _Inline(passage).html()


def anchor(url: str, label: str) -> str:
    """A link to a checked address, with a label that is HTML already."""
    return f'<a href="{text(url)}" rel="noopener noreferrer nofollow">{label}</a>'


class _Inline:
    """One passage while it is read; `_open` are the marks that wait for their other half."""

    def __init__(self, passage: str) -> None:
        self._passage = passage
        self._parts: list[str] = []
        self._open: list[tuple[str, int]] = []

    def html(self) -> str:
        tokens = list(_TOKEN.finditer(self._passage))
        if not tokens:
            return text(self._passage)
        closing = _closing_ticks(tokens)
        end = number = 0
        while number < len(tokens):
            token = tokens[number]
            start = token.start()
            if start >= end:
                self._parts.append(text(self._passage[end:start]))
                end = token.end()
                closer = closing.get(number)
                if closer is not None:
                    end = closer.end()
                    self._parts.append(f"<code>{text(_trimmed(self._passage[token.end() : closer.start()]))}</code>")
                else:
                    end = self._take(token)
            number += 1
        self._parts.append(text(self._passage[end:]))
        return "".join(self._parts)

    def _take(self, token: re.Match[str]) -> int:
        """One token; gives where the text goes on."""
        match token.lastgroup:
            case "mark":
                self._mark(token)
            case "link":
                self._parts.append(anchor(token["link"], text(token["label"])))
            case "url":
                url = token[0].rstrip(_TRAILING)
                self._parts.append(anchor(url, text(url)))
                return token.start() + len(url)
            case "escape":
                self._parts.append(text(token["escape"]))
            case _:
                self._parts.append(text(token[0]))
        return token.end()

    def _mark(self, token: re.Match[str]) -> None:
        """A half of strong or emphasis: closes what is open, or opens when something could follow."""
        mark = token[0]
        before = self._passage[token.start() - 1 : token.start()]
        after = self._passage[token.end() : token.end() + 1]
        marks = [each for each, _ in self._open]
        if before.strip() and mark in marks and (mark != "*" or not after.isalnum()):
            while self._open[-1][0] != mark:
                self._open.pop()  # no other half will come: it stays the text that it is
            _, place = self._open.pop()
            self._parts[place] = f"<{_TAGS[mark]}>"
            self._parts.append(f"</{_TAGS[mark]}>")
            return
        if after.strip() and mark not in marks and not (mark == "*" and before.isalnum()):
            self._open.append((mark, len(self._parts)))
        self._parts.append(text(mark))


def _closing_ticks(tokens: list[re.Match[str]]) -> dict[int, re.Match[str]]:
    """For each run of backticks the next one of the same length."""
    closing: dict[int, re.Match[str]] = {}
    waiting: dict[int, int] = defaultdict(lambda: -1)
    for number in reversed(range(len(tokens))):
        length = len(tokens[number][0])
        if tokens[number].lastgroup == "tick":
            if waiting[length] >= 0:
                closing[number] = tokens[waiting[length]]
            waiting[length] = number
    return closing


def _trimmed(code: str) -> str:
    is_padded = len(code) > 2 and code[0] == code[-1] == " " and code.strip()
    return code[1:-1] if is_padded else code
