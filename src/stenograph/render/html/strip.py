"""A strip that shows a whole run at once: its prompts and failures, each a link.

It repeats text of the page, so it is hidden from screen readers and from the Tab key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from stenograph.render.html.escape import line

WIDTH = 1000
MOST = 160
"""The most cells; if there are more, they are merged."""
_ORDER = ("", "ask", "bad")
"""Merged cells have the last of their kinds in this order."""


class Cell(Struct, frozen=True, kw_only=True):
    """A part of the run."""

    weight: float
    place: str
    """The target of a click."""
    kind: str = ""
    """`ask` where a prompt begins, `bad` where something failed."""
    title: str = ""


class Lane(Struct, frozen=True):
    """Something with a duration, drawn below the cells, from one share of the width to another."""

    begin: float
    end: float
    kind: str


def strip(cells: Sequence[Cell], lanes: Iterable[Lane] = (), last: int = 0) -> str:
    """The strip; nothing for a run of one part. `last` is the number of the last event, for a script."""
    if len(cells) < 2:
        return ""
    shown = list(_together(cells))
    scale = WIDTH / sum(cell.weight for cell in shown)
    parts: list[str] = []
    left = 0.0
    for cell in shown:
        width = cell.weight * scale
        gap = 1.0 if width > 3 else 0.0
        parts.append(
            f'<a href="{line(cell.place)}" tabindex="-1"><rect class="{cell.kind or "plain"}" x="{left:.1f}" y="0" '
            f'width="{max(width - gap, 0.5):.1f}" height="10"><title>{line(cell.title)}</title></rect></a>'
        )
        left += width
    parts += [
        f'<rect class="{lane.kind}" x="{lane.begin * WIDTH:.1f}" y="12" '
        f'width="{max((lane.end - lane.begin) * WIDTH, 1.5):.1f}" height="3"></rect>'
        for lane in lanes
    ]
    data = f' data-last="{last}"' if last else ""
    return (
        f'<svg class="strip"{data} viewBox="0 0 {WIDTH} 16" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>\n"
    )


def _together(cells: Sequence[Cell]) -> Iterable[Cell]:
    each = -(-len(cells) // MOST)
    for at in range(0, len(cells), each):
        group = cells[at : at + each]
        kind = max((cell.kind for cell in group), key=_ORDER.index)
        chosen = next(cell for cell in group if cell.kind == kind)
        yield Cell(weight=sum(cell.weight for cell in group), place=chosen.place, kind=kind, title=chosen.title)
