"""Changes of files, their lines coloured by what they do."""

from __future__ import annotations

from itertools import groupby

from stenograph.render.given import change_lines
from stenograph.render.html.escape import pre_of, text

_HEADS = ("+++ ", "--- ", "@@", "diff ", "index ", "*** ")
_KINDS = {"+": "add", "-": "del"}


def patch(value: str) -> str:
    """A patch as it is."""
    return _colored([(_patch_kind(each), each) for each in value.split("\n")])


def change(old: str, new: str) -> str:
    """How one text becomes the other."""
    return _colored([(_kind(each), each) for each in change_lines(old, new)])


def _kind(each: str) -> str:
    return _KINDS.get(each[:1], "same")


def _patch_kind(each: str) -> str:
    return "hunk" if each.startswith(_HEADS) else _kind(each)


def _colored(lines: list[tuple[str, str]]) -> str:
    runs = groupby(lines, key=lambda pair: pair[0])
    shown = ((kind, text("\n".join(each for _, each in group))) for kind, group in runs)
    return pre_of("".join(f'<span class="{kind}">{html}\n</span>' for kind, html in shown), "diff")
