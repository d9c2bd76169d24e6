"""The JSON API: what the page shows, for programs."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stenograph.model.codec import encode
from stenograph.query.stats import KEYS
from stenograph.server.answers import answer, json
from stenograph.server.listing import SHOWN, filters_of, owners_of, runs_of
from stenograph.server.looking import facets_of, find, hits_of
from stenograph.server.pages import RunPages
from stenograph.server.run_page import masked
from stenograph.server.site import Site
from stenograph.version import __version__

MOST_EVENTS = 1000
MOST_BYTES = 4_000_000


def runs(site: Site, request: Request) -> Response:
    """`/api/v1/runs`: a page of runs, and the id after which the next page begins."""
    query = dict(request.query_params)
    found, has_more = runs_of(site, query, _limit(request, SHOWN, 1000))
    after = found[-1].run_id if has_more else None
    return json(request, {"runs": [run.to_dict() for run in found], "after": after})


def run(site: Site, request: Request) -> Response:
    """`/api/v1/runs/{id}`: one run in figures, and the cursor behind its last event."""
    with site.run(request.path_params["run_id"]) as (reader, number, run_id):
        pages = RunPages(reader, number)
        info = site.info(reader, number)
    more = {"last_seq": pages.last, "units": len(pages.prompts), "cursor": f"{run_id}:{pages.revision}:{pages.last}"}
    return json(request, {**info.to_dict(), **more})


def events(site: Site, request: Request) -> Response:
    """`/api/v1/runs/{id}/events`: events behind a number, in the canonical form."""
    after = request.query_params.get("after", "0")
    first = (int(after) if after.isascii() and after.isdigit() and len(after) < 12 else 0) + 1
    limit = _limit(request, 200, MOST_EVENTS)
    with site.run(request.path_params["run_id"]) as (reader, number, _):
        last = RunPages(reader, number).last
        found = masked(site, reader.events(number, first, first + limit - 1))
    lines: list[bytes] = []
    size = 0
    for event in found:
        encoded = encode(event).rstrip(b"\n")
        if lines and size + len(encoded) > MOST_BYTES:
            break
        lines.append(encoded)
        size += len(encoded)
    reached = found[len(lines) - 1].seq if lines else last
    rest = b"null" if reached >= last else b"%d" % reached
    body = b'{"events":[%s],"after":%s}\n' % (b",".join(lines), rest)
    return answer(request, body, "application/json")


def units(site: Site, request: Request) -> Response:
    """`/api/v1/runs/{id}/units`: the numbers of the first and last event of each unit."""
    with site.run(request.path_params["run_id"]) as (reader, number, _):
        pages = RunPages(reader, number)
    starts = [*([(0, 1)] if pages.last and pages.prompts[:1] != [1] else []), *enumerate(pages.prompts, 1)]
    ends = [*(first - 1 for _, first in starts[1:]), pages.last]
    found = [
        {"unit": unit, "first_seq": first, "last_seq": last} for (unit, first), last in zip(starts, ends, strict=False)
    ]
    return json(request, {"units": found})


def found_in_run(site: Site, request: Request) -> Response:
    """`/api/v1/runs/{id}/find`: the numbers of all events with a hit, and the first hundred with their text."""
    words = request.query_params.get("q", "")
    with site.run(request.path_params["run_id"]) as (reader, number, _):
        seqs, shown = find(site, reader, number, words) if words.strip() else ([], [])
    hits = [
        {
            **msgspec.structs.asdict(each),
            "snippet": each.snippet.text,
            "spans": [list(span) for span in each.snippet.spans],
        }
        for each in shown
    ]
    return json(request, {"total": len(seqs), "seqs": seqs, "hits": hits})


def search(site: Site, request: Request) -> Response:
    """`/api/v1/search`: hits in all runs, newest first, with their facets."""
    query = dict(request.query_params)
    has_words = bool(query.get("q", "").strip())
    hits, looked_at = hits_of(site, query, _limit(request, 20, 1000)) if has_words else ([], "")
    scanned = {"looked_at": looked_at} if looked_at else {}
    return json(request, {"hits": hits, "facets": facets_of(site, query) if has_words else {}, **scanned})


def stats(site: Site, request: Request) -> Response:
    """`/api/v1/stats`: sums by day, week, model, agent, project or tool."""
    query = dict(request.query_params)
    by = query.get("by", KEYS[0])
    found = site.runs.stats(by, owners_of(query), **filters_of(query))
    rows = [{**row.to_dict(), by: site.text(row[by])} for row in found]
    return json(request, {"by": by, "rows": rows, "totals": found.totals.to_dict()})


def health(site: Site, request: Request) -> Response:
    """`/api/v1/health`: the program, and whether the archive is kept up to date."""
    keeping = "no" if site.keeper is None else site.keeper.state
    return json(request, {"version": __version__, "keeping": keeping, "redact": site.mask is not None})


def _limit(request: Request, usual: int, most: int) -> int:
    limit = request.query_params.get("limit", "")
    return max(1, min(int(limit), most)) if limit.isascii() and limit.isdigit() and len(limit) < 9 else usual
