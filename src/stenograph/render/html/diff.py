"""Changes of files, their lines coloured by kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

from stenograph.render.html.escape import pre_of, text
from stenograph.render.tool_input import change_lines

_HEADS = ("+++ ", "--- ", "@@", "diff ", "index ", "*** ")
MOST_PAIRS = 40
LONGEST_LINE = 500
"""Lines up to this length are compared; longer ones are shown without marks."""
LEAST_ALIKE = 0.3
"""The share of a line that must stay for it to count as a changed line."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_KINDS = {"+": "add", "-": "del"}


def patch(value: str) -> str:
    """A patch, with the differing words of changed lines marked."""
    return _colored(value.removesuffix("\n").split("\n"), _patch_kind)


def change(old: str, new: str) -> str:
    """How one text becomes the other, with the differing words of changed lines marked."""
    return _colored(change_lines(old, new), _kind)


def _colored(lines: list[str], kind_of: Callable[[str], str]) -> str:
    groups = [(kind, list(group)) for kind, group in groupby(lines, key=kind_of)]
    parts: list[str] = []
    for number, (kind, group) in enumerate(groups):
        counterparts = _counterparts(groups, number)
        is_paired = len(counterparts) == len(group) <= MOST_PAIRS
        shown = (
            [_words(*pair) for pair in zip(group, counterparts, strict=True)] if is_paired else [text("\n".join(group))]
        )
        parts.append(f'<span class="{kind}">{chr(10).join(shown)}\n</span>')
    return pre_of("".join(parts), "diff")


def _counterparts(groups: list[tuple[str, list[str]]], number: int) -> list[str]:
    """The lines that replace those of a group, or that they replace."""
    other, at = {"del": ("add", number + 1), "add": ("del", number - 1)}.get(groups[number][0], ("", -1))
    return groups[at][1] if 0 <= at < len(groups) and groups[at][0] == other else []


def _words(each: str, counterpart: str) -> str:
    """A line with its difference from its counterpart marked: from the first differing word to the last."""
    if len(each) > LONGEST_LINE or len(counterpart) > LONGEST_LINE:
        return text(each)
    ours, theirs = _WORD.findall(each[1:]), _WORD.findall(counterpart[1:])
    shorter = min(len(ours), len(theirs))
    start = next((at for at in range(shorter) if ours[at] != theirs[at]), shorter)
    left = shorter - start
    end = next((at for at in range(left) if ours[-1 - at] != theirs[-1 - at]), left)
    before, after = "".join(ours[:start]), "".join(ours[len(ours) - end :])
    middle = "".join(ours[start : len(ours) - end])
    if not middle or len(before.strip()) + len(after.strip()) < LEAST_ALIKE * len(each):
        return text(each)
    return f"{text(each[:1] + before)}<b>{text(middle)}</b>{text(after)}"


def _kind(each: str) -> str:
    return _KINDS.get(each[:1], "same")


def _patch_kind(each: str) -> str:
    return "hunk" if each.startswith(_HEADS) else _kind(each)
