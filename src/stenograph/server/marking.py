"""Marks: the only thing that the page may change, and never in a transcript."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from stenograph.archive.marks import MarkChange, add_mark, read_marks
from stenograph.server.answers import json
from stenograph.server.site import Site


def marks(site: Site, request: Request) -> Response:
    """`GET /api/v1/marks`: stars, names, tags and notes, by run."""
    found = {run_id: msgspec.structs.asdict(mark) for run_id, mark in read_marks(site.home.path).items()}
    for each in found.values():
        each |= {name: site.text(each[name]) for name in ("name", "note") if each[name]}
    return json(request, {"marks": found})


def change_mark(site: Site, request: Request, body: bytes) -> Response:
    """`POST /api/v1/marks`: `{"run_id": …}` with what is to be other: `star`, `name`, `tags`, `note`, `seen`."""
    try:
        change = msgspec.json.decode(body, type=MarkChange)
    except msgspec.DecodeError as error:
        return json(request, {"error": f"that is not a mark: {error}"}, 400)
    if not change.fits:
        return json(request, {"error": "that is too long for a mark; shorten it"}, 400)
    with site.run(change.run_id) as (_, _, run_id):
        pass
    add_mark(site.home.path, msgspec.structs.replace(change, run_id=run_id))
    return json(request, {"ok": True})
