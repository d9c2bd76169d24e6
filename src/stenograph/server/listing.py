"""The list of runs, and the runs that are open now."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.marks import Mark, read_marks
from stenograph.fold.agent_tables import name_of_agent
from stenograph.query.runs import NEWEST
from stenograph.query.scope import STATUSES
from stenograph.render.figures import amount, cost, cost_words, counted, duration, when
from stenograph.render.html.escape import line
from stenograph.runs.archive import Filters
from stenograph.runs.info import RunInfo
from stenograph.server.answers import html
from stenograph.server.frame import address, framed, moment, status_mark, table
from stenograph.server.served_runs import OWNERS, Owners
from stenograph.server.site import Site

SHOWN = 100
_HEAD = ("Status", "Run", "Agent", "Project", "Last event", "Took", "Turns", "Tools", "Errors", "Tokens", "Cost")
_TEXTS = ("agent", "project", "model", "status", "since", "until")
_SORTED = {
    "Last event": "ended",
    "Took": "took",
    "Turns": "turns",
    "Tools": "tools",
    "Errors": "errors",
    "Tokens": "tokens",
    "Cost": "cost",
}
_TAKING = (
    '<form class="take" id="take" action="/export.zip"><label>The chosen runs as '
    '<select name="kind"><option>html</option><option>md</option><option>txt</option><option>json</option></select>'
    '</label> <label class="tick"><input type="checkbox" name="redact" value="1"> masked</label> '
    '<button type="submit">Download a zip</button></form>'
)
_ASKING = '<button type="button" data-do="notify" hidden>Notify me when a run waits or fails</button>'
_AS_LOADED = "As steno lake load found them last; steno tail -f RUN --store follows a run."
_FOLDED = (*OWNERS, "agent", "project", "model", "since", "until", "tag", "errors", "sub", "starred")
OPEN_AMONG = 300
"""Newest runs among which those that are open are looked for."""


def filters_of(query: Mapping[str, str]) -> Filters:
    """The filters that a query string names, as `Archive.runs` takes them."""
    filters: dict[str, Any] = {name: query[name] for name in _TEXTS if query.get(name)}
    if query.get("q"):
        filters["grep"] = query["q"]
    if query.get("errors") == "1":
        filters["with_errors"] = True
    if query.get("sub") == "0":
        filters["without_children"] = True
    if query.get("starred") == "1":
        filters["starred"] = True
    if query.get("tag"):
        filters["tag"] = query["tag"]
    return cast("Filters", filters)


def owners_of(query: Mapping[str, str]) -> Owners:
    """Whose runs a query string asks for."""
    return {name: query[name] for name in OWNERS if query.get(name)}


def runs_of(site: Site, query: Mapping[str, str], limit: int = SHOWN) -> tuple[list[RunInfo], bool]:
    """The runs that a query asks for, and whether there are more."""
    after, sort = query.get("after") or None, query.get("sort") or None
    infos = site.runs.listed(limit + 1, after, sort, owners_of(query), **filters_of(query))
    return [site.masked(info) for info in infos[:limit]], len(infos) > limit


def runs_page(site: Site, request: Request) -> Response:
    """`/`: the runs, those with the newest events first."""
    query = dict(request.query_params)
    if not site.runs.is_there():
        return html(request, _beginning(site))
    runs, has_more = runs_of(site, query)
    rows = rows_of(site, runs)
    more = ""
    if has_more:
        place = address("/", {**query, "after": runs[-1].run_id})
        more = f'<p class="pager"><a rel="next" href="{place}">Older runs</a></p>'
    none = "" if runs else '<p class="empty">No run is like that.</p>'
    taking = _TAKING if runs else ""
    body = (
        f'<main class="wide"><h1>Runs</h1>{_form(site, query)}{table(_heads(site, query), rows, "runs")}'
        f"{none}{taking}{more}</main>"
    )
    is_first = not query.get("after") and query.get("sort") in (None, "", NEWEST)
    is_live = site.runs.is_live and is_first
    return html(request, framed(site, "Runs", body, here="/", attributes=' data-topic="list"' if is_live else ""))


def _beginning(site: Site) -> str:
    """What is shown before the first sync has made an archive; it looks again by itself."""
    if site.store is not None:
        state = f"Nothing is loaded yet. steno lake load {line(site.runs.place)} does that."
    elif site.keeper is None:
        state = "There is no archive yet. steno sync makes it."
    else:
        state = "There is no archive yet. What the agents on this machine wrote is being read."
    body = f'<main class="wide"><h1>Runs</h1><p class="empty">{state}</p></main>'
    return framed(site, "Runs", body, here="/", refresh=site.keeper is not None)


def _columns(site: Site) -> tuple[str, ...]:
    """The names of the columns; of a store, also whose machine it is."""
    return _HEAD if site.store is None else (*_HEAD[:2], "Machine", *_HEAD[2:])


def _heads(site: Site, query: Mapping[str, str]) -> list[str]:
    """The names of the columns; those that can be sorted by are links, and say how they are sorted."""
    now = query.get("sort") or NEWEST
    kept = {name: value for name, value in query.items() if name not in ("sort", "after")}
    found = []
    for name in _columns(site):
        sort = _SORTED.get(name)
        if sort is None:
            found.append(name)
            continue
        mark = {sort: " ↓", f"-{sort}": " ↑"}.get(now, "")
        wanted = f"-{sort}" if now == sort else sort
        found.append(f'<a href="{address("/", {**kept, "sort": wanted})}">{name}{mark}</a>')
    return found


def rows_of(site: Site, runs: Sequence[RunInfo]) -> list[str]:
    """Runs in the table, with their marks."""
    folder = site.runs.marks_folder
    marks = {} if folder is None else read_marks(folder)
    last = site.runs.last_seqs([run.run_id for run in runs]) if marks and runs else {}
    columns = _columns(site)
    found = []
    for run in runs:
        mark = marks.get(run.run_id, Mark())
        is_new = mark.seen is not None and last.get(run.run_id, 0) > mark.seen
        name, tags = mark.name and site.text(mark.name), tuple(map(site.text, mark.tags))
        shown = msgspec.structs.replace(mark, name=name, tags=tags)
        found.append(row(run, shown, columns, is_new=is_new))
    return found


def row(run: RunInfo, mark: Mark, columns: Sequence[str] = _HEAD, *, is_new: bool = False) -> str:
    """A run in the table."""
    place = f"/runs/{run.run_id}"
    title = line(mark.name or title_of(run))
    star = '<span class="star" title="starred">★</span> ' if mark.star else ""
    tags = "".join(f' <a class="tag" href="{address("/", {"tag": tag})}">{line(tag)}</a>' for tag in mark.tags)
    errors = f'<a class="no" href="{place}?types=errors">{run.errors:,}</a>' if run.errors else "0"
    child = '<span class="child" title="started by another run">↳</span> ' if run.parent_run_id else ""
    machine = (line(run.host or ""),) if "Machine" in columns else ()
    cells = (
        f'<input type="checkbox" form="take" name="run" value="{run.run_id}" aria-label="Choose {title}"> '
        f"{status_mark(run.status, run.status_reason)}",
        f'{star}{child}<a href="{place}" dir="auto">{title}</a>{tags}',
        *machine,
        line(name_of_agent(run.agent)),
        line(run.project or ""),
        moment(run.ended_at, when(run.ended_at)),
        "" if run.duration_ms is None else duration(run.duration_ms / 1000),
        f"{run.turns:,}",
        f"{run.tool_calls:,}",
        errors,
        amount(run.input_tokens + run.output_tokens),
        line(cost(run.cost_usd, run.cost_is_partial)),
    )
    shown = "".join(f'<td data-head="{name}">{cell}</td>' for name, cell in zip(columns, cells, strict=True))
    kind = ' class="unread"' if is_new else ""
    names = f'id="run-{run.run_id}" data-run="{run.run_id}" data-status="{run.status}" data-state="{state_of(run)}"'
    return f"<tr{kind} {names}>{shown}</tr>\n"


def state_of(run: RunInfo) -> str:
    """A short name for all figures of a run, so that a page knows which rows of its stream are news to it."""
    if run.cost_usd is not None:  # a sum, whose last digits depend on the order
        run = msgspec.structs.replace(run, cost_usd=round(run.cost_usd, 9))
    return f"{zlib.crc32(repr(run).encode(errors='backslashreplace')):08x}"


def title_of(run: RunInfo) -> str:
    """What to call a run: its title, else its agent, folder and time."""
    place = " · ".join(filter(None, (name_of_agent(run.agent), run.project, when(run.started_at))))
    return run.title or place or run.run_id


def is_open(run: RunInfo) -> bool:
    """Whether it is running or waits."""
    return run.status in ("running", "waiting")


def live_page(site: Site, request: Request) -> Response:
    """`/live`: runs that are running or waiting."""
    if not site.runs.is_there():
        return html(request, _beginning(site))
    runs = [run for run in runs_of(site, {}, OPEN_AMONG)[0] if is_open(run)]
    items = "".join(_live_item(run) for run in runs)
    none = '<p class="empty">No run is open now.</p>'
    is_live = site.runs.is_live
    asking = _ASKING if is_live else f'<p class="hint">{_AS_LOADED}</p>'
    body = f'<main class="narrow"><h1>Live</h1>{asking}<ul class="live">{items}</ul>{"" if runs else none}</main>'
    attributes = ' data-topic="list" data-reload="1"' if is_live else ""
    return html(request, framed(site, "Live", body, here="/live", attributes=attributes))


def _live_item(run: RunInfo) -> str:
    facts = [
        name_of_agent(run.agent),
        run.project or "",
        counted(run.turns, "turn"),
        cost_words(run.cost_usd, run.cost_is_partial),
    ]
    return (
        f'<li data-run="{run.run_id}"><a href="/runs/{run.run_id}" dir="auto">{line(title_of(run))}</a> '
        f"{status_mark(run.status, run.status_reason)}<small>{line(' · '.join(filter(None, facts)))} · "
        f"{moment(run.ended_at, when(run.ended_at))}</small></li>"
    )


def _form(site: Site, query: Mapping[str, str]) -> str:
    def field(name: str, label: str, kind: str = "text") -> str:
        value = line(query.get(name, ""))
        return f'<label>{label} <input type="{kind}" name="{name}" value="{value}"></label>'

    def tick(name: str, value: str, label: str) -> str:
        checked = " checked" if query.get(name) == value else ""
        box = f'<input type="checkbox" name="{name}" value="{value}"{checked}>'
        return f'<label class="tick">{box} {label}</label>'

    choices = "".join(
        f"<option{' selected' if query.get('status') == name else ''}>{name}</option>" for name in ("", *STATUSES)
    )
    can_mark = site.runs.marks_folder is not None
    folded = "".join(
        (
            *(field(name, name.capitalize()) for name in site.runs.owners),
            field("agent", "Agent"),
            field("project", "Project"),
            field("model", "Model"),
            field("since", "Since"),
            field("until", "Until"),
            field("tag", "Tag") if can_mark else "",
            tick("errors", "1", "with errors"),
            tick("sub", "0", "no child runs"),
            tick("starred", "1", "starred") if can_mark else "",
        )
    )
    is_open = " open" if any(query.get(name) for name in _FOLDED) else ""
    sort = f'<input type="hidden" name="sort" value="{line(query["sort"])}">' if query.get("sort") else ""
    return (
        f'<form class="filters" action="/">{field("q", "Words", "search")}'
        f'<label>Status <select name="status">{choices}</select></label>{sort}<button type="submit">Filter</button>'
        f'<details{is_open}><summary>More filters</summary><div class="filters">{folded}</div></details></form>\n'
    )
