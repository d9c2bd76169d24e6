"""The contents of a page: its units, with their figures and failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stenograph.render.figures import cost_words, counted, duration
from stenograph.render.html.escape import line, text
from stenograph.render.page_facts import UnitFacts

_WORTH_FILTERING = 8
"""From this many units on a filter is shown."""
_ERRORS = '<label class="only"><input id="only-errors" type="checkbox" autocomplete="off"> with errors</label>'
_FILTER = (
    '<input id="sift" type="search" placeholder="Filter" aria-label="Filter the contents" autocomplete="off" hidden>'
)


def contents(units: Sequence[UnitFacts], *, title: str = "Contents", before: str = "") -> str:
    """A list of links to the units; those with errors can be shown alone, without a script."""
    asked = [unit for unit in units if unit.number]
    only = _ERRORS if 0 < sum(1 for unit in asked if unit.errors) < len(asked) else ""
    sift = _FILTER if len(units) >= _WORTH_FILTERING else ""
    rows = "".join(_rows(units))
    return f'<nav class="toc" aria-label="Contents">{before}<h2>{title}</h2>{sift}{only}<ol>\n{rows}</ol></nav>\n'


def unit_title(unit: UnitFacts) -> str:
    """The title of a unit."""
    return unit.title or (f"Prompt {unit.number}" if unit.number else "Before the first prompt")


def _rows(units: Sequence[UnitFacts]) -> Iterator[str]:
    """The units; where they span several days, each day is named."""
    days = [unit.span.started_at[:10] for unit in units]
    has_days = len(set(filter(None, days))) > 1
    last = ""
    for unit, day in zip(units, days, strict=True):
        if has_days and day and day != last:
            last = day
            yield f'<li class="day">{line(day)}</li>\n'
        kind = ' class="bad"' if unit.errors else ""
        link = f'<a href="#unit-{unit.number}" dir="auto">{text(unit_title(unit))}{_small(unit)}</a>'
        yield f"<li{kind}>{link}</li>\n"


def _small(unit: UnitFacts) -> str:
    figures = [counted(unit.calls, "tool call")] if unit.calls else []
    figures += [duration(unit.span.seconds)] if unit.span.seconds else []
    figures += [paid] if (paid := cost_words(unit.cost.dollars, unit.cost.is_partial)) else []
    failed = f' <span class="no">{counted(unit.errors, "error")}</span>' if unit.errors else ""
    return f"<small>{line(' · '.join(figures))}{failed}</small>" if figures or failed else ""
