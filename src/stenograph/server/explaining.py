"""A run summarized, and two runs compared: the output of `steno explain` and `steno diff` as pages."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from stenograph.errors import InvalidQuery
from stenograph.fold.compare import compare
from stenograph.fold.explain import Explained
from stenograph.render.comparison import comparison_lines
from stenograph.render.explanation import explanation_lines
from stenograph.render.figures import when
from stenograph.render.html.escape import line, pre
from stenograph.runs.info import RunInfo
from stenograph.server.answers import html
from stenograph.server.frame import framed
from stenograph.server.run_page import copied_note, head_of, views_of
from stenograph.server.site import Site

_NEIGHBOURS = 5


def explain_page(site: Site, request: Request) -> Response:
    """`/runs/{id}/explain`."""
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        info = site.info(reader, run)
        found = site.explained(reader, run)
        note = copied_note(site.runs.copied(reader, run))
    text = "\n".join(explanation_lines(found.explanation))
    body = (
        f'{head_of(info)}{views_of(run_id, "/explain")}<main class="narrow"><h2>What happened</h2>{note}{pre(text)}'
        f"{_earlier(site, info)}</main>"
    )
    return html(request, framed(site, "What happened", body, attributes=f' data-run="{run_id}" data-view="explain"'))


def diff_page(site: Site, request: Request) -> Response:
    """`/diff?left=ID&right=ID`."""
    sides = [request.query_params.get(name, "") for name in ("left", "right")]
    if not all(sides):
        raise InvalidQuery("two runs are compared; give left and right, the ids of runs")
    compared: list[Explained] = []
    links = ""
    for sign, side in zip("-+", sides, strict=True):
        with site.run(side) as (reader, run, run_id):
            info = site.info(reader, run)
            compared.append(site.explained(reader, run))
        links += f'<li><code>{sign}</code> <a href="/runs/{run_id}" dir="auto">{_name(info)}</a></li>'
    text = "\n".join(comparison_lines(compare(*compared)))
    body = f'<main class="narrow"><h1>Two runs compared</h1><ul>{links}</ul>{pre(text)}</main>'
    return html(request, framed(site, "Two runs compared", body))


def _earlier(site: Site, info: RunInfo) -> str:
    """Links that compare the run with those before it in the same folder."""
    runs = site.runs.listed(_NEIGHBOURS, info.run_id, project=info.cwd or None)
    links = "".join(
        f'<li><a href="/diff?left={each.run_id}&amp;right={info.run_id}" dir="auto">{_name(site.masked(each))}</a></li>'
        for each in runs
    )
    return f"<h2>Compare with an earlier run</h2><ul>{links}</ul>" if links else ""


def _name(info: RunInfo) -> str:
    return line(f"{when(info.started_at)} {info.agent}: {info.title or info.run_id}")
