"""The page of a run, the way to one event, and one event as it was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.marks import Mark, read_marks
from stenograph.archive.store.source_line import SourceLine, source_line
from stenograph.fold.agent_tables import name_of_agent
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.query.scope import STATUSES
from stenograph.render.figures import cost, counted, duration, when
from stenograph.render.html.contents import contents
from stenograph.render.html.escape import line, pre
from stenograph.render.html.page import what_happened
from stenograph.runs.info import RunInfo
from stenograph.server.answers import html, redirect
from stenograph.server.fragment import rendered, units_on
from stenograph.server.frame import address, framed, moment, plain_error, status_mark
from stenograph.server.listing import title_of
from stenograph.server.marking import mark_form
from stenograph.server.overview import run_strip
from stenograph.server.pages import DENSITIES, TYPES, Page, RunPages
from stenograph.server.site import Site

OPEN = STATUSES[:2]
"""Of a run that may still grow: running, waiting."""
EXPLAINED = 1000
"""Events up to which the page of a run begins with what happened in it, for which all of them are read."""
_LONGEST_LINE = 200_000
_LARGEST = 1 << 53
"""No run has an event of this number, and SQLite knows it."""
_VIEWS = (
    ("", "Transcript"),
    ("/tree", "Tree"),
    ("/changes", "Changes"),
    ("/explain", "What happened"),
    ("/find", "Find"),
)


def run_page(site: Site, request: Request) -> Response:
    """`/runs/{id}`: one page of a run, or what the query picks from it."""
    query = request.query_params
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        if run_id != request.path_params["run_id"]:
            return redirect(f"/runs/{run_id}")
        info = site.info(reader, run)
        pages = RunPages(reader, run)
        types = [name for name in query.get("types", "").split(",") if name in TYPES]
        page = None
        if types or query.get("source"):
            body = _picked(site, info, pages, types, query.get("source") or None, _number(query.get("from"), 1))
            is_last = False
        else:
            page = _wanted_page(info, pages, query.get("unit"), query.get("from"))
            if page is None and pages.pages:
                return html(request, plain_error(site, "No such unit", "The run has no unit of that number."), 404)
            body = _whole(site, info, pages, page)
            is_last = page is None or page.number == len(pages.pages) - 1
        notes = copied_note(site.runs.copied(reader, run))
        if pages.last <= EXPLAINED:
            notes += what_happened(site.explained(reader, run).explanation)
        density = query.get("density")
        density = density if density in DENSITIES else "normal"
        kept = {"types": ",".join(types), "density": "" if density == "normal" else density}
        views = views_of(run_id, "", kept)
        switches = _switches(run_id, dict(query), density, run_strip(reader, run, run_id, pages, page))
        neighbours = msgspec.structs.asdict(site.runs.neighbours(reader, run))
        beside = "".join(f' data-{name}="{other}"' for name, other in neighbours.items() if other)
        cursor = f' data-cursor="{run_id}:{pages.revision}:{pages.last}"' if site.runs.is_live else ""
        attributes = (
            f'{beside} data-run="{run_id}"{cursor}'
            f' data-density="{density}" data-page="{"last" if is_last else "other"}" data-status="{info.status}"'
        )
    folder = site.marks_folder
    mark = Mark() if folder is None else read_marks(folder).get(run_id, Mark())
    form = mark_form(site, run_id, mark)
    mark = msgspec.structs.replace(mark, name=mark.name and site.text(mark.name))
    owner = "" if site.store is None else " · ".join(filter(None, (info.host, info.user)))
    head = head_of(info, None if folder is None else mark, notes + form, owner)
    content = f'{head}{views}{switches}<div class="page served">{body}</div>'
    return html(request, framed(site, title_of(info), content, attributes=attributes))


def head_of(info: RunInfo, mark: Mark | None = None, notes: str = "", owner: str = "") -> str:
    """What a run is and what it came to; the same figures as in the list.

    With a mark, a star to set; `notes` is what can be opened below; `owner` is the machine that keeps it.
    """
    figures = (
        ("Machine", line(owner)),
        ("Agent", line(" ".join(filter(None, (name_of_agent(info.agent), info.agent_version))))),
        ("Project", line(info.project or "")),
        ("Model", line(info.model or "")),
        ("Started", moment(info.started_at, when(info.started_at))),
        ("Took", "" if info.duration_ms is None else duration(info.duration_ms / 1000)),
        ("Turns", f"{info.turns:,}"),
        ("Tool calls", f"{info.tool_calls:,}"),
        ("Subagents", f"{info.subagents:,}" if info.subagents else ""),
        ("Tokens", f"{info.input_tokens + info.output_tokens:,}"),
        ("Cost", line(cost(info.cost_usd, info.cost_is_partial))),
    )
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures if value)
    if info.errors:
        link = f'<a href="/runs/{info.run_id}?types=errors">{info.errors:,}</a>'
        facts += f'<div class="bad-fact"><dt>Errors</dt><dd>{link}</dd></div>'
    named = (mark.name if mark is not None else None) or title_of(info)
    star = ""
    if mark is not None:
        pressed = "true" if mark.star else "false"
        star = f' <button class="star" data-do="star" aria-label="Star" aria-pressed="{pressed}" hidden>☆</button>'
    parent = (
        f'<p><a rel="up" href="/runs/{info.parent_run_id}">The run that started it</a></p>'
        if info.parent_run_id
        else ""
    )
    return (
        f'<header class="top run"><h1 dir="auto">{line(named)}{star}</h1>'
        f"<p>{status_mark(info.status, info.status_reason)} <small>{line(info.status_reason or '')}</small></p>{parent}"
        f'<dl class="facts">{facts}</dl>{notes}</header>\n'
    )


def copied_note(calls: int) -> str:
    """That the transcript holds calls which do not count in this run."""
    if not calls:
        return ""
    copied = counted(calls, "call")
    return f'<p class="hint">The transcript also has {copied} copied from an earlier run, which count there.</p>'


def views_of(run_id: str, here: str, kept: Mapping[str, str] | None = None) -> str:
    """The views of a run; `kept` is what exports keep of the one that is shown."""
    links = "".join(
        f'<a href="/runs/{run_id}{place}"{" aria-current=page" if place == here else ""}>{name}</a>'
        for place, name in _VIEWS
    )
    kinds = "".join(
        f'<a href="{address(f"/runs/{run_id}/export.{kind}", kept or {})}" download>{kind}</a>'
        for kind in ("html", "md", "txt", "json", "zip")
    )
    return (
        f'<nav class="views" aria-label="Views of the run">{links}<span class="exports">Export {kinds}</span></nav>\n'
    )


def _switches(run_id: str, query: dict[str, str], density: str, overview: str) -> str:
    place = f"/runs/{run_id}"
    kept = {name: value for name, value in query.items() if name != "from"}
    densities = "".join(
        f'<a href="{address(place, {**kept, "density": each})}" data-density-of="{each}"'
        f"{' aria-current=true' if each == density else ''}>{each}</a>"
        for each in DENSITIES
    )
    rest = {name: value for name, value in kept.items() if name in ("density", "source")}
    kinds = "".join(
        f'<a href="{address(place, {**rest, "types": each})}"'
        f"{' aria-current=true' if query.get('types') == each else ''}>{each}</a>"
        for each in TYPES
    )
    everything = address(place, {"density": query.get("density", "")})
    return (
        f'<div class="switches"><form class="find" action="{place}/find" role="search"><input type="search" name="q" '
        'aria-label="Find in this run" placeholder="Find in this run ( / )"><output id="hits"></output></form>'
        f'<span class="chips" role="group" aria-label="Density">{densities}</span>'
        f'<span class="chips" role="group" aria-label="Only"><a href="{everything}">everything</a>{kinds}</span>'
        f"{overview}</div>\n"
    )


def _wanted_page(info: RunInfo, pages: RunPages, unit: str | None, start: str | None) -> Page | None:
    """By `unit` and `from`; else the first, or the last of a run that is open."""
    if start is not None:
        return pages.holding(_number(start, 0))
    if unit is not None:
        return pages.of_unit(_number(unit, -1))
    if not pages.pages:
        return None
    return pages.pages[-1 if info.status in OPEN else 0]


def _whole(site: Site, info: RunInfo, pages: RunPages, page: Page | None) -> str:
    if page is None:
        return '<main class="transcript"><p class="empty">Nothing was recorded.</p></main>'
    events = masked(site, pages.events(page))
    shown = rendered(events, page.unit, is_live=info.status in OPEN)
    pager = _pager(info.run_id, pages, page)
    return (
        f"{contents(units_on(events, page.unit), title='On this page', before=pager)}"
        f'<main class="transcript">{shown}</main>\n<div class="after">{pager}</div>'
    )


def _picked(site: Site, info: RunInfo, pages: RunPages, types: Sequence[str], source: str | None, start: int) -> str:
    events, after = pages.picked(types, source, start)
    unit = pages.unit_of(events[0].seq) if events else 0
    shown = rendered(masked(site, events), unit, is_live=info.status in OPEN)
    query = {"types": ",".join(types), "source": source or "", "from": after or ""}
    more = f'<p class="pager"><a rel="next" href="{address("", query)}">More</a></p>' if after else ""
    none = "" if events else '<p class="empty">Nothing of the run is like that.</p>'
    return f'<main class="transcript picked">{shown}{none}</main>\n<div class="after">{more}</div>'


def page_address(run_id: str, page: Page) -> str:
    """Where a page of a run is."""
    start = f"&from={page.first}" if page.is_continued else ""
    return f"/runs/{run_id}?unit={page.unit}{start}"


def _pager(run_id: str, pages: RunPages, page: Page) -> str:
    last = len(pages.pages) - 1
    if not last:
        return ""

    def link(number: int, name: str, relation: str) -> str:
        if number == page.number or not 0 <= number <= last:
            return f"<span>{name}</span>"
        return f'<a rel="{relation}" href="{line(page_address(run_id, pages.pages[number]))}">{name}</a>'

    return (
        f'<p class="pager">{link(0, "First", "first")}{link(page.number - 1, "Earlier", "prev")}'
        f"<b>{page.number + 1:,} of {last + 1:,}</b>"
        f"{link(page.number + 1, 'Later', 'next')}{link(last, 'Last', 'last')}</p>"
    )


def at_page(site: Site, request: Request) -> Response:
    """`/runs/{id}/at/{seq}`: to the page that holds an event, wherever that is now."""
    seq = request.path_params["seq"]
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        page = RunPages(reader, run).holding(seq)
    if page is None:
        return html(request, plain_error(site, "No such event", f"The run has no event {seq}."), 404)
    sought = request.query_params.get("q")
    more = f"&{address('', {'q': sought}).removeprefix('?')}" if sought else ""
    return redirect(f"{page_address(run_id, page)}{more.replace('&amp;', '&')}#seq-{seq}")


def raw_page(site: Site, request: Request) -> Response:
    """`/runs/{id}/raw/{seq}`: an event as we keep it, with the line that it came from."""
    seq = min(request.path_params["seq"], _LARGEST)
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        event = next(iter(masked(site, reader.events(run, seq, seq))), None)
        info = site.info(reader, run)
        source = None if event is None else source_line(reader, event)
    if event is None:
        return html(request, plain_error(site, "No such event", f"The run has no event {seq}."), 404)
    shown = msgspec.json.format(encode(event), indent=2).decode("utf-8", "replace")
    body = (
        f'<main class="narrow"><h1>Event {seq}</h1><p><a href="/runs/{run_id}/at/{seq}">In its place</a> in '
        f'<a href="/runs/{run_id}" dir="auto">{line(title_of(info))}</a></p>'
        f"<h2>The event</h2>{pre(shown)}{_source(site, source, event)}</main>"
    )
    return html(request, framed(site, f"Event {seq}", body))


def _source(site: Site, source: SourceLine | None, event: Event) -> str:
    if source is None and event.raw is not None:  # an event that was recorded with its line
        return f"<h2>The source line</h2>{pre(event.raw[:_LONGEST_LINE])}"
    if source is None:
        return "<h2>The source line</h2><p>No line of a kept file holds this event.</p>"
    text = source.data.decode("utf-8", "replace")
    shown = site.text(text)
    more = len(shown) - _LONGEST_LINE
    note = f"<p>{counted(more, 'more character')}; steno restore writes the whole file</p>" if more > 0 else ""
    place = site.text(f"{source.path}:{source.number}")
    return f"<h2>The source line</h2><p><code>{line(place)}</code></p>{pre(shown[:_LONGEST_LINE])}{note}"


def masked(site: Site, events: Iterable[Event]) -> list[Event]:
    """The events as they may be shown."""
    return list(events if site.mask is None else site.mask.events(events))


def _number(value: str | None, otherwise: int) -> int:
    return int(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 12 else otherwise
