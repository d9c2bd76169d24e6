"""Marks: the only thing that the page may change; transcripts stay as they are."""

from __future__ import annotations

from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.marks import Mark, MarkChange, add_mark, read_marks
from stenograph.errors import InvalidQuery, RunNotFound
from stenograph.render.html.escape import line, text
from stenograph.server.answers import json, redirect
from stenograph.server.site import Site

_NOT_OF_A_STORE = "a store has no marks: stars, names, tags and notes are kept by the archive of each machine"


def marks(site: Site, request: Request) -> Response:
    """`GET /api/v1/marks`: stars, names, tags and notes, by run."""
    if site.store is not None:
        raise RunNotFound(_NOT_OF_A_STORE)
    found = {run_id: msgspec.structs.asdict(mark) for run_id, mark in read_marks(site.home.path).items()}
    for each in found.values():
        each |= {name: site.text(each[name]) for name in ("name", "note") if each[name]}
    return json(request, {"marks": found})


def change_mark(site: Site, request: Request, body: bytes) -> Response:
    """`POST /api/v1/marks`: `{"run_id": …}` with what changes: `star`, `name`, `tags`, `note`, `seen`."""
    try:
        change = msgspec.json.decode(body, type=MarkChange)
    except msgspec.DecodeError as error:
        return json(request, {"error": f"that is not a mark: {error}"}, 400)
    _keep(site, change)
    return json(request, {"ok": True})


def change_by_form(site: Site, request: Request, body: bytes) -> Response:
    """`POST /runs/{id}/marks`: the form of the run's page, which needs no script."""
    fields = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20))
    tags = dict.fromkeys(tag.strip() for tag in fields.get("tags", "").split(",") if tag.strip())
    change = MarkChange(
        run_id=request.path_params["run_id"],
        star=fields.get("star") == "1",
        name=fields.get("name", "").strip() or None,
        tags=tuple(tags),
        note=fields.get("note", "").strip() or None,
    )
    return redirect(f"/runs/{_keep(site, change)}")


def _keep(site: Site, change: MarkChange) -> str:
    """Write a change; returns the id of its run. Raises `InvalidQuery` for one that is too long."""
    if site.bundle is not None:
        raise InvalidQuery("a bundle is not changed; marks are kept in an archive")
    if site.store is not None:
        raise InvalidQuery(_NOT_OF_A_STORE)
    if not change.fits:
        raise InvalidQuery("that is too long for a mark; shorten it")
    with site.run(change.run_id) as (_, _, run_id):
        pass
    add_mark(site.home.path, msgspec.structs.replace(change, run_id=run_id))
    return run_id


def mark_form(site: Site, run_id: str, mark: Mark) -> str:
    """The form for the marks of a run; it works without a script.

    There is none for a bundle or a store, nor where a mark has to be masked: what is kept would be the mask.
    """
    noted = ", ".join(filter(None, (mark.name, *mark.tags, mark.note)))
    if site.marks_folder is None or site.text(noted) != noted:
        return ""

    def field(name: str, label: str, value: str) -> str:
        return f'<label>{label} <input type="text" name="{name}" value="{line(value)}"></label>'

    small = f" <small>{line(noted[:80])}</small>" if noted else ""
    checked = " checked" if mark.star else ""
    return (
        f'<details class="marks"><summary>Name, tags and note{small}</summary>'
        f'<form class="filters" method="post" action="/runs/{run_id}/marks">{field("name", "Name", mark.name or "")}'
        f"{field('tags', 'Tags, with commas', ', '.join(mark.tags))}"
        f'<label class="wide">Note <textarea name="note" rows="2">{text(mark.note or "")}</textarea></label>'
        f'<label class="tick"><input type="checkbox" name="star" value="1"{checked}> starred</label>'
        '<button type="submit">Keep</button></form></details>'
    )
