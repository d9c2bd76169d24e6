"""A run as one self-contained HTML page, written as a stream.

Everything from the transcript is data. The page's policy allows one style and one script, by their hashes, and images
that are in the page; nothing is loaded, nothing is sent.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator

from stenograph.fold.prices import Prices
from stenograph.fold.status import Life
from stenograph.model.event import Event
from stenograph.render.figures import cost, counted, day, duration, tokens
from stenograph.render.html.escape import line, text
from stenograph.render.html.script import SCRIPT
from stenograph.render.html.skin import HtmlSkin
from stenograph.render.html.style import STYLE
from stenograph.render.layout import Layout
from stenograph.render.outline import Outline, UnitFacts
from stenograph.render.rereading import Rereading
from stenograph.render.survey import outline_of


def html_page(
    read: Callable[[], Iterable[Event]], *, full: bool = False, prices: Prices | None = None, life: Life | None = None
) -> Iterator[str]:
    """The page of a run, piece by piece.

    `read` gives the events of the run, from the first on, each time it is called: once for what must be known
    beforehand and, when they are too many to remember, once more to write. `full` folds no output.
    `life` is what is known of its process; without it the page says no status.
    """
    events = Rereading(read)
    outline = outline_of(events, prices, life)
    yield _head(outline)
    yield from Layout(outline, HtmlSkin(full=full)).text(events)
    yield _foot(outline)


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


POLICY = (
    f"default-src 'none'; style-src {_digest(STYLE)}; script-src {_digest(SCRIPT)}; img-src data:; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)

_TOOLS = """<div class="tools" id="tools" hidden>
<input id="search" type="search" placeholder="Search  ( / )" aria-label="Search" autocomplete="off" spellcheck="false">
<output id="count"></output>
<button id="previous" type="button" aria-label="Previous">↑</button>
<button id="next" type="button" aria-label="Next">↓</button>
<button id="fold" type="button">Unfold all</button><button id="theme" type="button">Light / dark</button>
</div>
"""


def _head(outline: Outline) -> str:
    title = line(outline.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="Stenograph">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<div class="page">\n<header class="top"><h1 dir="auto">{title}</h1>\n{_facts(outline)}</header>\n'
        f"{_TOOLS}{_contents(outline.units)}<main>\n"
    )


def _facts(outline: Outline) -> str:
    asked = sum(1 for unit in outline.units if unit.number)
    seconds = outline.span.seconds
    facts = [
        ("Agent", ", ".join(outline.agents)),
        ("Model", ", ".join(outline.models)),
        ("Run", outline.name if outline.name != outline.title else ""),
        ("Folder", outline.cwd or ""),
        ("When", day(outline.span.started_at)),
        ("Duration", "" if not seconds else duration(seconds)),
        ("Prompts", f"{asked:,}" if asked else ""),
        ("Status", outline.status),
        *outline.counts,
        ("Tokens", tokens(outline.totals.tokens)),
        ("Cost", cost(outline.cost.dollars, outline.cost.is_partial)),
    ]
    rows = [f"<div><dt>{name}</dt><dd>{line(value)}</dd></div>" for name, value in facts if value]
    if outline.totals.errors:
        rows.append(f'<div class="bad-fact"><dt>Errors</dt><dd>{outline.totals.errors:,}</dd></div>')
    return f'<dl class="facts">{"".join(rows)}</dl>'


def _contents(units: tuple[UnitFacts, ...]) -> str:
    rows = "".join(
        f'<li><a href="#unit-{unit.number}" dir="auto">{text(_unit_title(unit))}{_small(unit)}</a></li>\n'
        for unit in units
    )
    return f'<nav class="toc" aria-label="Contents"><h2>Contents</h2><ol>\n{rows}</ol></nav>\n'


def _unit_title(unit: UnitFacts) -> str:
    return unit.title or (f"Prompt {unit.number}" if unit.number else "Before the first prompt")


def _small(unit: UnitFacts) -> str:
    told = [counted(unit.calls, "tool call")] if unit.calls else []
    failed = f' <span class="no">{counted(unit.errors, "error")}</span>' if unit.errors else ""
    return f"<small>{''.join(told)}{failed}</small>" if told or failed else ""


def _foot(outline: Outline) -> str:
    told = f"{counted(outline.events, 'event')} of run {outline.run_id}" if outline.events else "Nothing was recorded"
    return (
        f"</main>\n<footer>{line(told)}. Made with Stenograph.</footer>\n</div>\n"
        f'<div class="toast" id="toast" role="status"></div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n'
    )
