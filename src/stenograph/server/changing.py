"""What a run changed: one entry per file, its changes in order, each linked to the event that made it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.reader import IndexReader
from stenograph.fold.actions import Change, action
from stenograph.model.event import Event
from stenograph.render.figures import clock, counted
from stenograph.render.html.diff import change, patch
from stenograph.render.html.escape import line
from stenograph.server.answers import html
from stenograph.server.fragment import LONGEST
from stenograph.server.frame import framed
from stenograph.server.run_page import head_of, masked, views_of
from stenograph.server.site import Site

MOST = 400
"""Changes on the page; the others are counted."""

Made = tuple[Event, Change, bool]
"""The call, what it changed, and whether it failed."""


def changes_page(site: Site, request: Request) -> Response:
    """`/runs/{id}/changes`."""
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        info = site.info(reader, run)
        made = _changes(site, reader, run)
    files: dict[str, list[Made]] = {}
    for each in made[:MOST]:
        files.setdefault(each[1].path or "a file without a name", []).append(each)
    index = "".join(
        f'<li><a href="#file-{number}">{line(path)}</a> {_sums(changes)}</li>'
        for number, (path, changes) in enumerate(files.items(), 1)
    )
    parts = "".join(_file(run_id, number, path, changes) for number, (path, changes) in enumerate(files.items(), 1))
    left_out = f"<p>{counted(len(made) - MOST, 'more change')}</p>" if len(made) > MOST else ""
    none = "" if made else '<p class="empty">No call of the run names a change of a file.</p>'
    body = (
        f'{head_of(info)}{views_of(run_id, "/changes")}<main class="narrow"><h2>{counted(len(files), "file")}</h2>'
        f"<ol>{index}</ol>{parts}{left_out}{none}</main>"
    )
    return html(request, framed(site, "Changes", body, attributes=f' data-run="{run_id}" data-view="changes"'))


def _changes(site: Site, reader: IndexReader, run: int) -> list[Made]:
    query = """
        SELECT events.id, calls.error IS NOT NULL FROM main.calls AS calls
        JOIN main.events AS events ON events.id = calls.call WHERE calls.run = ? ORDER BY events.seq
    """
    found: list[Made] = []
    for number, has_failed in reader.index.execute(query, (run,)).fetchall():
        event = reader.event(number)
        for shown in masked(site, [] if event is None else [event]):
            found += [(shown, each, bool(has_failed)) for each in action(shown).changes]
    return found


def _file(run_id: str, number: int, path: str, changes: list[Made]) -> str:
    parts = "".join(
        f'<div class="ev"><div class="who">{line(each.kind)}{" <span class=no>failed</span>" if has_failed else ""}'
        f'<a class="at" href="/runs/{run_id}/at/{event.seq}">{line(clock(event.timestamp))} · event {event.seq:,}</a>'
        f"</div>{_diff(each)}</div>"
        for event, each, has_failed in changes
    )
    return f'<section id="file-{number}"><h2><code>{line(path)}</code> {_sums(changes)}</h2>{parts}</section>\n'


def _diff(each: Change) -> str:
    if each.patch is not None:
        return patch(each.patch[:LONGEST]) if each.patch.strip() else ""
    if each.old is None and each.new is None:
        return ""
    return change((each.old or "")[:LONGEST], (each.new or "")[:LONGEST])


def _sums(changes: list[Made]) -> str:
    lines = [each.lines for _, each, has_failed in changes if not has_failed]
    return f"<small>+{sum(added for added, _ in lines):,} −{sum(removed for _, removed in lines):,}</small>"
