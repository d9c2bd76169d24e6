"""Finding: words in one run, and words in all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.index.words import event_text
from stenograph.archive.reader import IndexReader
from stenograph.query.language import parse_query
from stenograph.query.runs import title_of
from stenograph.query.snippet import Snippet, Snippets
from stenograph.render.figures import clock, counted, when
from stenograph.render.html.escape import line, text
from stenograph.render.page_facts import on_a_line
from stenograph.runs.archive import SearchOptions
from stenograph.server.answers import html
from stenograph.server.frame import address, framed, moment
from stenograph.server.listing import filters_of, owners_of
from stenograph.server.run_page import head_of, views_of
from stenograph.server.site import Site

SHOWN = 100
_ROLES = ("user", "assistant", "tool", "system")
_FACETS_OF = 2000
"""How many of the newest hits are counted for the facets."""


class Found(Struct, frozen=True, kw_only=True):
    """An event of a run in which something was found."""

    seq: int
    source: str
    timestamp: str
    role: str | None
    tool_name: str | None
    snippet: Snippet


def find(site: Site, reader: IndexReader, run: int, words: str, first: int = 0) -> tuple[list[int], list[Found]]:
    """The numbers of all events of a run in which words are found, and the first hundred from a number on."""
    query = parse_query(words)
    sql = """
        SELECT events.id, events.seq, events.source, events.timestamp, events.role, events.tool_name
        FROM words CROSS JOIN main.events AS events ON events.id = words.rowid
        WHERE words MATCH ? AND events.run = ? ORDER BY events.seq
    """
    rows = reader.index.execute(sql, (query.match, run)).fetchall()
    snippets = Snippets(query.phrases)
    shown: list[Found] = []
    for number, seq, source, timestamp, role, tool_name in [row for row in rows if row[1] >= first][:SHOWN]:
        event = reader.event(number)
        if event is not None and site.mask is not None:
            event = site.mask.event(event)
        snippet = snippets.of("" if event is None else event_text(event))
        shown.append(
            Found(seq=seq, source=source, timestamp=timestamp, role=role, tool_name=tool_name, snippet=snippet)
        )
    return [row[1] for row in rows], shown


def find_page(site: Site, request: Request) -> Response:
    """`/runs/{id}/find`: all hits of a run, each with its surrounding text."""
    words = request.query_params.get("q", "")
    start = request.query_params.get("from", "0")
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        info = site.info(reader, run)
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 12 else 0
        seqs, shown = find(site, reader, run, words, first) if words.strip() else ([], [])
    items = "".join(_item(run_id, each, words) for each in shown)
    count = counted(len(seqs), "hit") if words.strip() else ""
    later = [seq for seq in seqs if shown and seq > shown[-1].seq]
    more = ""
    if later:
        place = address(f"/runs/{run_id}/find", {"q": words, "from": later[0]})
        more = f'<p class="pager"><a rel="next" href="{place}">{counted(len(later), "more hit")}</a></p>'
    body = (
        f'{head_of(info)}{views_of(run_id, "/find")}<main class="narrow"><form class="big" role="search">'
        f'<input type="search" name="q" value="{line(words)}" aria-label="Find in this run" autofocus> '
        f"<button type=submit>Find</button></form><p>{count}</p><ol class=hits>{items}</ol>{more}</main>"
    )
    return html(request, framed(site, "Find", body, attributes=f' data-run="{run_id}" data-view="find"'))


def _item(run_id: str, found: Found, words: str) -> str:
    who = found.tool_name or found.role or "event"
    place = address(f"/runs/{run_id}/at/{found.seq}", {"q": words})
    return (
        f'<li><a href="{place}">{line(who)} · {line(clock(found.timestamp))} · event {found.seq:,}</a>'
        f'<p dir="auto">{marked(found.snippet)}</p></li>'
    )


def marked(snippet: Snippet) -> str:
    """A snippet with the found words marked."""
    parts: list[str] = []
    done = 0
    for at, to in snippet.spans:
        parts += [text(snippet.text[done:at]), f"<mark>{text(snippet.text[at:to])}</mark>"]
        done = to
    return "".join(parts) + text(snippet.text[done:])


def hits_of(site: Site, query: Mapping[str, str], limit: int = SHOWN) -> tuple[list[dict[str, Any]], str]:
    """The hits that a query string asks for, newest first, as `steno search --json` has them and with their spans; and
    what was searched, if that is not everything."""
    filters = filters_of({name: value for name, value in query.items() if name not in ("q", "errors")})
    options = SearchOptions(
        role=query.get("role") if query.get("role") in _ROLES else None,
        tool=query.get("tool") or None,
        errors=query.get("errors") == "1",
        rank=query.get("sort") == "rank",
        limit=limit,
        mask=None,
    )
    searched = site.runs.search(query.get("q", ""), options, owners_of(query), **filters)
    found = []
    for hit in searched.hits:
        snippet = hit.snippet
        if site.mask is not None and (masked := site.mask.text(snippet.text)) != snippet.text:
            snippet = Snippet(masked)
        found.append({**hit.to_dict(), "snippet": snippet.text, "spans": [list(span) for span in snippet.spans]})
    return found, searched.looked_at


def facets_of(site: Site, query: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """How many hits each agent, project, role and day has, among the newest ones."""
    counts = {name: Counter[str]() for name in ("agent", "project", "role", "since")}
    for row in site.runs.facets(query.get("q", ""), _FACETS_OF):
        for name, value in zip(counts, row, strict=True):
            if value:
                counts[name][site.text(value)] += 1
    return {name: dict(counter.most_common(8)) for name, counter in counts.items()}


def search_page(site: Site, request: Request) -> Response:
    """`/search`: words in all runs, every hit a link to its event."""
    query = dict(request.query_params)
    words = query.get("q", "")
    hits, looked_at = hits_of(site, query) if words.strip() else ([], "")
    facets = facets_of(site, query) if words.strip() else {}
    chips = "".join(_facet(name, values, query) for name, values in facets.items() if values)
    titles = _titles(site, {hit["run_id"] for hit in hits})
    items = "".join(_hit(hit, words, titles.get(hit["run_id"], "")) for hit in hits)
    none = '<p class="empty">Nothing was found.</p>' if words.strip() and not hits else ""
    cut = f'<p class="hint">No more than {SHOWN} hits are shown; narrow the search.</p>' if len(hits) >= SHOWN else ""
    body = (
        '<main class="narrow"><h1>Search</h1><form class="big" role="search"><input type="search" name="q" '
        f'value="{line(words)}" aria-label="Search all runs" autofocus> <button type="submit">Search</button></form>'
        f'<p class="hint">Words, "a phrase", a OR b, a NOT b, begin*</p>{_looked_at(looked_at, query)}{chips}'
        f'<ol class="hits">{items}</ol>{cut}{none}</main>'
    )
    return html(request, framed(site, f"{words} · Search" if words else "Search", body, here="/search"))


def _looked_at(scanned: str, query: Mapping[str, str]) -> str:
    """What was searched, and links to search more."""
    if not scanned:
        return ""
    links = "".join(
        f' <a href="{address("/search", {**query, "since": since})}">{since}</a>'
        for since in ("1d", "7d", "30d", "365d")
    )
    return f'<p class="hint">Looked at {line(scanned)}. Since:{links}</p>'


def _facet(name: str, values: Mapping[str, int], query: Mapping[str, str]) -> str:
    links = "".join(
        f'<a href="{address("/search", {**query, name: "" if query.get(name) == value else value})}"'
        f"{' aria-current=true' if query.get(name) == value else ''}>{line(value)} <small>{number:,}</small></a>"
        for value, number in values.items()
    )
    return f'<p class="chips facet"><b>{name}</b>{links}</p>'


def _titles(site: Site, run_ids: set[str]) -> dict[str, str]:
    """The names of the runs of some hits."""
    found = {}
    for run_id, run in (site.runs.titles(run_ids) if run_ids else {}).items():
        title = on_a_line(title_of(run.name, run.first_prompt) or "", 60)
        found[run_id] = site.text(" · ".join(filter(None, (title, run.agent, run.project))))
    return found


def _hit(hit: Mapping[str, Any], words: str, run: str) -> str:
    who = hit["tool_name"] or hit["role"] or "event"
    place = address(f"/runs/{hit['run_id']}/at/{hit['seq']}", {"q": words})
    spans = tuple((at, to) for at, to in hit["spans"])
    return (
        f'<li><a href="{place}">{line(who)} · {moment(hit["timestamp"], when(hit["timestamp"]))}</a>'
        f' <small dir="auto">{line(run)}</small><p dir="auto">{marked(Snippet(hit["snippet"], spans))}</p></li>'
    )
