"""Changes of files, their lines coloured by what they do."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import groupby

from stenograph.render.given import change_lines
from stenograph.render.html.escape import pre_of, text

_HEADS = ("+++ ", "--- ", "@@", "diff ", "index ", "*** ")
MOST_PAIRS = 40
MOST_WORDS = 3_600
"""Lines and words up to which they are compared; beyond that the lines stand for themselves."""
LEAST_ALIKE = 0.5
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_KINDS = {"+": "add", "-": "del"}


def patch(value: str) -> str:
    """A patch as it is."""
    return _colored([(_patch_kind(each), each) for each in value.split("\n")])


def change(old: str, new: str) -> str:
    """How one text becomes the other, with the words that differ in a line that stays a line."""
    groups = [(kind, list(lines)) for kind, lines in groupby(change_lines(old, new), key=_kind)]
    parts: list[str] = []
    for number, (kind, lines) in enumerate(groups):
        other = groups[number + 1][1] if kind == "del" and groups[number + 1 : number + 2] else []
        if kind == "add" and number and groups[number - 1][0] == "del":
            other = groups[number - 1][1]
        is_paired = len(other) == len(lines) <= MOST_PAIRS and _kind(other[0]) in ("add", "del")
        shown = [_words(each, mate) for each, mate in zip(lines, other, strict=True)] if is_paired else None
        html = "\n".join(shown) if shown is not None else text("\n".join(lines))
        parts.append(f'<span class="{kind}">{html}\n</span>')
    return pre_of("".join(parts), "diff")


def _words(each: str, mate: str) -> str:
    """A line with the words that its counterpart does not have."""
    ours, theirs = _WORD.findall(each[1:]), _WORD.findall(mate[1:])
    if len(ours) * len(theirs) > MOST_WORDS:
        return text(each)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    if matcher.ratio() < LEAST_ALIKE:
        return text(each)
    parts = [text(each[:1])]
    for tag, start, end, _, _ in matcher.get_opcodes():
        words = text("".join(ours[start:end]))
        parts.append(words if tag == "equal" or not words else f"<b>{words}</b>")
    return "".join(parts)


def _kind(each: str) -> str:
    return _KINDS.get(each[:1], "same")


def _patch_kind(each: str) -> str:
    return "hunk" if each.startswith(_HEADS) else _kind(each)


def _colored(lines: list[tuple[str, str]]) -> str:
    runs = groupby(lines, key=lambda pair: pair[0])
    shown = ((kind, text("\n".join(each for _, each in group))) for kind, group in runs)
    return pre_of("".join(f'<span class="{kind}">{html}\n</span>' for kind, html in shown), "diff")
