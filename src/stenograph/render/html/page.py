"""A run as one self-contained HTML page, written as a stream.

Everything from the transcript is data. The page's policy allows one style and one script, by their hashes, and images
that are in the page; nothing is loaded, nothing is sent.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from stenograph.fold.explain import Explaining, Explanation
from stenograph.fold.prices import Prices
from stenograph.fold.status import Life
from stenograph.model.event import Event
from stenograph.render.explanation import explanation_lines
from stenograph.render.figures import cost, counted, day, duration, tokens
from stenograph.render.first_pass import page_facts_of
from stenograph.render.html.contents import contents, unit_title
from stenograph.render.html.escape import line, pre
from stenograph.render.html.page_writer import HtmlPageWriter
from stenograph.render.html.script import SCRIPT
from stenograph.render.html.strip import Cell, strip
from stenograph.render.html.style import STYLE
from stenograph.render.layout import PageLayout
from stenograph.render.page_facts import PageFacts, UnitFacts
from stenograph.render.two_pass import TwoPass


def html_page(
    read: Callable[[], Iterable[Event]],
    *,
    full: bool = False,
    prices: Prices | None = None,
    life: Life | None = None,
    density: str = "normal",
) -> Iterator[str]:
    """The page of a run, piece by piece.

    `read` returns the events of the run, from the first on, each time it is called: once for what must be known
    beforehand and, when they are too many to keep, once more to write. `full` folds no output.
    `life` is what is known about its process; without it the page shows no status. `density` is how much of it is
    unfolded at first: `brief`, `normal` or `all`.
    """
    return HtmlPage(read, full=full, prices=prices, life=life, density=density).parts()


class HtmlPage:
    """The page of a run, and the explanation in its head. The arguments are those of `html_page`."""

    def __init__(
        self,
        read: Callable[[], Iterable[Event]],
        *,
        full: bool = False,
        prices: Prices | None = None,
        life: Life | None = None,
        density: str = "normal",
    ) -> None:
        self._events = TwoPass(read)
        self._full = full
        self._density = density
        explaining = Explaining()
        self._facts = page_facts_of(_explained(self._events, explaining), prices, life)
        self.explanation = explaining.explanation(prices, life)
        """What happened in the run."""

    def parts(self) -> Iterator[str]:
        """The page, piece by piece."""
        yield _head(self._facts, self.explanation, self._density)
        yield from PageLayout(self._facts, HtmlPageWriter(full=self._full)).text(self._events)
        yield _foot(self._facts)


def _explained(events: Iterable[Event], explaining: Explaining) -> Iterator[Event]:
    for event in events:
        explaining.add(event)
        yield event


def html_fragment(events: Sequence[Event]) -> str:
    """Some events of a run, a unit or a single one, as HTML without a page around it.

    The surrounding page needs `STYLE`, and `switches`, without which machine events stay hidden.
    """
    return "".join(PageLayout(page_facts_of(events), HtmlPageWriter()).text(events))


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


POLICY = (
    f"default-src 'none'; style-src {_digest(STYLE)}; script-src {_digest(SCRIPT)}; img-src data:; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)

_WORTH_A_STRIP = 4
"""From this many units on a strip is shown."""
_KEYS = [
    ("j k", "next, previous event"),
    ("J K", "next, previous prompt"),
    ("e E", "next, previous error"),
    ("c C", "next, previous change of a file"),
    ("u", "up to what is around it"),
    ("o", "open or close it"),
    ("O", "open or close all of its kind"),
    ("1 2 3", "brief, normal, all"),
    ("a", "show or hide machine events"),
    ("t", "open or close thinking"),
    ("/", "search"),
    ("n N", "next, previous hit"),
    ("g g, G", "start, end"),
    ("y Y", "copy its link, its text"),
    ("d", "light or dark"),
    ("? Esc", "show, hide these keys"),
]


def _head(facts: PageFacts, explanation: Explanation, density: str) -> str:
    attribute = "" if density == "normal" else f' data-density="{line(density)}"'
    title = line(facts.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="Stenograph">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body{attribute}>\n"
        f'<div class="page">\n<header class="top"><h1 dir="auto">{title}</h1>\n{_facts(facts)}'
        f"{what_happened(explanation)}{switches(facts)}</header>\n"
        f"{_tools(facts.units)}{_help()}{contents(facts.units)}<main>\n"
    )


def _tools(units: tuple[UnitFacts, ...]) -> str:
    return f"""<div class="tools" id="tools" hidden>
<input id="search" type="search" placeholder="Search  ( / )" aria-label="Search" autocomplete="off" spellcheck="false">
<output id="count"></output>
<button id="previous" type="button" aria-label="Previous hit">↑</button>
<button id="next" type="button" aria-label="Next hit">↓</button>
<span class="density"><button id="brief" type="button">Brief</button><button id="normal" type="button">Normal</button>\
<button id="all" type="button">All</button></span>
<button id="error" type="button" aria-label="Next error">Errors ↓</button>
<button id="theme" type="button">Light / dark</button>
<button id="keys" type="button" aria-label="Keys">?</button>
{_strip(units)}</div>
"""


def switches(facts: PageFacts) -> str:
    """The switch for machine events, and the link to the errors; they work without a script."""
    first = next((unit.number for unit in facts.units if unit.errors), None)
    link = "" if first is None else f'<a id="errors" href="#unit-{first}">Go to the first error</a>'
    label = f"Show {counted(facts.asides, 'machine event')}"
    switch = f'<label><input id="noise" type="checkbox" autocomplete="off"> {label}</label>' if facts.asides else ""
    return f'<div class="noise">{switch}{link}</div>' if switch or link else ""


def _help() -> str:
    rows = "".join(f"<dt><b>{keys}</b></dt><dd>{line(what)}</dd>" for keys, what in _KEYS)
    return f'<div class="help" id="help" hidden><dl>{rows}</dl></div>\n'


def _facts(facts: PageFacts) -> str:
    asked = sum(1 for unit in facts.units if unit.number)
    seconds = facts.span.seconds
    shown = [
        ("Agent", ", ".join(facts.agent_names)),
        ("Model", ", ".join(facts.models)),
        ("Run", facts.name if facts.name != facts.title else ""),
        ("Folder", facts.cwd or ""),
        ("When", day(facts.span.started_at)),
        ("Duration", "" if not seconds else duration(seconds)),
        ("Prompts", f"{asked:,}" if asked else ""),
        ("Status", facts.status),
        *facts.counts,
        ("Tokens", tokens(facts.totals.tokens)),
        ("Cost", cost(facts.cost.dollars, facts.cost.is_partial)),
    ]
    rows = [f"<div><dt>{name}</dt><dd>{line(value)}</dd></div>" for name, value in shown if value]
    if facts.totals.errors:
        rows.append(f'<div class="bad-fact"><dt>Errors</dt><dd>{facts.totals.errors:,}</dd></div>')
    return f'<dl class="facts">{"".join(rows)}</dl>'


def what_happened(explanation: Explanation) -> str:
    """What `steno explain` says about a run, folded, with the run's end in the summary."""
    if not explanation.run_id:
        return ""
    failed = counted(explanation.totals.errors, "error")
    changed = counted(len(explanation.files), "file")
    end = "" if explanation.verdict is None else f"{explanation.verdict.status}, "
    small = f"<small>{line(f'{end}{changed} changed, {failed}')}</small>"
    body = pre("\n".join(explanation_lines(explanation)))
    return f'<details class="told"><summary>What happened {small}</summary>{body}</details>'


def _strip(units: tuple[UnitFacts, ...]) -> str:
    """The units, sized by their calls, each with its failures at its end; nothing for a short run."""
    if len(units) < _WORTH_A_STRIP:
        return ""
    cells: list[Cell] = []
    for unit in units:
        place, title = f"#unit-{unit.number}", unit_title(unit)
        went_well = max(1, 1 + unit.calls - unit.errors)
        cells.append(Cell(weight=went_well, place=place, kind="ask" if unit.number else "", title=title))
        if unit.errors:
            failed = f"{counted(unit.errors, 'error')} in {title}"
            cells.append(Cell(weight=unit.errors, place=place, kind="bad", title=failed))
    return strip(cells)


def _foot(facts: PageFacts) -> str:
    words = f"{counted(facts.events, 'event')} of run {facts.run_id}" if facts.events else "Nothing was recorded"
    return (
        f"</main>\n<footer>{line(words)}. Made with Stenograph.</footer>\n</div>\n"
        f'<button class="copy" id="copy" type="button" hidden>Copy</button>'
        f'<div class="toast" id="toast" role="status"></div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n'
    )
