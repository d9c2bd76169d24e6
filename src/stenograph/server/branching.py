"""The tree of a run: steps, subagents and the runs that it started, with bars on a time axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.reader import IndexReader
from stenograph.fold.tree import RunNode, StepNode
from stenograph.model.moment import moment_of
from stenograph.model.payload import ToolPayload
from stenograph.render.figures import counted, duration
from stenograph.render.html.escape import line
from stenograph.render.tool_input import task_of
from stenograph.server.answers import html
from stenograph.server.frame import address, framed, status_mark
from stenograph.server.listing import title_of
from stenograph.server.run_page import head_of, masked, views_of
from stenograph.server.site import Site

_WIDTH, _ROW = 900, 20
_MOST = 200
Bar = tuple[str, float, float, str]


def tree_page(site: Site, request: Request) -> Response:
    """`/runs/{id}/tree`."""
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        info = site.info(reader, run)
        with site.runs.open(run_id) as opened:
            node = opened.tree()
        names = {run_id: title_of(info), **dict(_tasks(site, reader, run, node.steps))}
    if site.mask is not None:
        node = site.mask.tree(node)
    body = (
        f'{head_of(info)}{views_of(run_id, "/tree")}<main class="narrow"><h2>In time</h2>'
        f"{_axis(list(_bars(node, names)))}"
        f'<h2>In order</h2><div class="tree"><ul>{_run_item(node, names)}</ul></div></main>'
    )
    return html(request, framed(site, "Tree", body, attributes=f' data-run="{run_id}" data-view="tree"'))


def _tasks(site: Site, reader: IndexReader, run: int, steps: Iterable[StepNode]) -> Iterator[tuple[str, str]]:
    """What the subagents were asked to do, by their names in the tree."""
    for step in steps:
        if step.call_seq is not None and step.name.startswith("subagent:"):
            for event in masked(site, reader.events(run, step.call_seq, step.call_seq)):
                task = task_of(event.payload.input) if isinstance(event.payload, ToolPayload) else ""
                if task:
                    yield step.name, task
        yield from _tasks(site, reader, run, step.steps)


def _run_item(node: RunNode, names: Mapping[str, str]) -> str:
    name = line(names.get(node.run_id) or node.name or node.run_id)
    own = " of its own" if node.steps else ""
    facts = f"{counted(node.messages, 'message')}, {counted(node.tool_calls, 'tool call')}{own}"
    inner = "".join(_step_item(step, node.run_id, names) for step in node.steps)
    more = f"<ul>{inner}</ul>" if inner else ""
    mark = status_mark(node.status, node.status_reason)
    link = name if node.status == "missing" else f'<a href="/runs/{line(node.run_id)}">{name}</a>'
    return f"<li>{link} {mark} <small>{facts}</small>{more}</li>"


def _step_item(step: StepNode, run_id: str, names: Mapping[str, str]) -> str:
    took = _seconds(step)
    facts = [step.kind, counted(step.tool_calls, "tool call"), "" if took is None else duration(took)]
    inner = "".join(_step_item(each, run_id, names) for each in step.steps) + (
        "" if step.child is None else _run_item(step.child, names)
    )
    name = line(names.get(step.name) or step.name or step.path)
    if step.name.startswith("subagent:"):
        source = step.name.removeprefix("subagent:")
        name = f'<a href="{address(f"/runs/{run_id}", {"source": source})}">{name}</a>'
    more = f"<ul>{inner}</ul>" if inner else ""
    error = f' <span class="no">{line(step.error)}</span>' if step.error else ""
    return (
        f"<li>{name} {status_mark(step.status)} <small>{line(', '.join(filter(None, facts)))}</small>{error}{more}</li>"
    )


def _seconds(step: StepNode | RunNode) -> float | None:
    begin, end = moment_of(step.started_at or ""), moment_of(step.ended_at or "")
    return None if begin is None or end is None else max(0.0, (end - begin).total_seconds())


def _bars(node: RunNode | StepNode, names: Mapping[str, str], depth: int = 0) -> Iterator[Bar]:
    """The name, the begin and the end in seconds, and the kind, of everything that has a time."""
    begin, end = moment_of(node.started_at or ""), moment_of(node.ended_at or "")
    if begin is not None:
        stop = begin if end is None else max(begin, end)
        kind = "failed" if node.status == "failed" else "agent" if isinstance(node, StepNode) else ""
        key = node.run_id if isinstance(node, RunNode) else node.name
        yield "\u2003" * depth + (names.get(key) or node.name or "run"), begin.timestamp(), stop.timestamp(), kind
    for step in node.steps:
        yield from _bars(step, names, depth + 1)
    if isinstance(node, StepNode) and node.child is not None:
        yield from _bars(node.child, names, depth + 1)


def _axis(bars: list[Bar]) -> str:
    if not bars:
        return '<p class="empty">Nothing here has a time.</p>'
    first, last = min(bar[1] for bar in bars), max(bar[2] for bar in bars)
    scale = (_WIDTH - 8) / max(last - first, 0.001)
    rows = []
    for place, (name, begin, end, kind) in enumerate(bars[:_MOST]):
        left, width = 4 + (begin - first) * scale, max(3.0, (end - begin) * scale)
        anchor = f'x="{left + 4:.1f}"' if left < _WIDTH * 0.7 else f'x="{left - 4:.1f}" text-anchor="end"'
        rows.append(
            f'<rect class="{kind}" x="{left:.1f}" y="{place * _ROW + 3}" width="{width:.1f}" height="{_ROW - 6}" '
            f'rx="3" opacity=".45"><title>{line(name.strip())}, {duration(end - begin)}</title></rect>'
            f'<text {anchor} y="{place * _ROW + 14}">{line(name[:80])}</text>'
        )
    height = min(len(bars), _MOST) * _ROW
    left_out = f"<p>{counted(len(bars) - _MOST, 'more part')}</p>" if len(bars) > _MOST else ""
    return (
        '<div class="scroll" tabindex="0">'
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img" '
        f'aria-label="Time axis, {duration(last - first)}">{"".join(rows)}</svg></div>{left_out}\n'
    )
