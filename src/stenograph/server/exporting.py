"""A run to take away: as a page, as Markdown, as text or as JSON, as the command line writes them."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from stenograph.errors import RunNotFound
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.query.prices import load_prices
from stenograph.render.html import html_page
from stenograph.render.markdown import markdown_page
from stenograph.runs.reader import RunReader
from stenograph.server.site import Site
from stenograph.transcript import entries, format_entry

KINDS = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "json": "application/json",
}


def export(site: Site, request: Request) -> Response:
    """`/runs/{id}/export.{kind}`; `?redact=1` masks what is secret. Never a document of ours: it is downloaded."""
    kind = request.path_params["kind"]
    if kind not in KINDS:
        raise RunNotFound(f"a run is exported as one of {', '.join(KINDS)}", kind)
    with site.run(request.path_params["run_id"]) as (_, _, run_id):
        pass
    redact = site.mask is not None or request.query_params.get("redact") == "1"
    headers = {"content-disposition": f'attachment; filename="{run_id}.{kind}"'}
    return StreamingResponse(_pieces(site, run_id, kind, redact), headers=headers, media_type=KINDS[kind])


def _pieces(site: Site, run_id: str, kind: str, redact: bool) -> Iterator[bytes]:
    with site.archive() as archive, archive.run(run_id, redact=redact) as run:
        for text in _texts(run, kind):
            yield text.encode("utf-8", "replace")


def _texts(run: RunReader, kind: str) -> Iterator[str]:
    def read() -> Iterator[Event]:
        return run.events(keep_raw=kind == "json")

    match kind:
        case "html":
            yield from html_page(read, life=run.kind.life(), prices=load_prices())
        case "md":
            yield from markdown_page(read, life=run.kind.life(), prices=load_prices())
        case "txt":
            yield from (
                (f"\n{each}" if number else each) for number, each in enumerate(map(format_entry, entries(read())))
            )
        case _:
            before = "["
            for event in read():
                yield f"{before}\n{encode(event).decode().rstrip()}"
                before = ","
            yield "[]\n" if before == "[" else "\n]\n"
