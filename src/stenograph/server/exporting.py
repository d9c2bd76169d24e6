"""Downloads of runs: as a page, Markdown, text, JSON or a bundle, as the command line writes them."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator, Sequence, Set
from functools import partial
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from stenograph.errors import InvalidQuery, RunNotFound
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.query.prices import load_prices
from stenograph.render.html import html_page
from stenograph.render.markdown import markdown_page
from stenograph.runs.reader import RunReader
from stenograph.server.pages import DENSITIES, TYPES, RunPages
from stenograph.server.site import Site
from stenograph.transcript import entries, format_entry

KINDS = {
    "html": "text/html; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "json": "application/json",
}


MOST = 200
"""Runs in one zip."""
_CHUNK = 1 << 18


def export(site: Site, request: Request) -> Response:
    """`/runs/{id}/export.{kind}`; `?redact=1` masks secrets. Always a download, never shown as a page of ours."""
    kind = request.path_params["kind"]
    if kind not in (*KINDS, "zip"):
        raise RunNotFound(f"a run is exported as one of {', '.join(KINDS)}, zip", kind)
    view = _view(request)
    with site.run(request.path_params["run_id"]) as (reader, run, run_id):
        picked = None if not view.types else RunPages(reader, run).numbers(view.types)
    redact = _is_masked(site, request)
    headers = {"content-disposition": f'attachment; filename="{run_id}.{kind}"'}
    if kind == "zip":
        return StreamingResponse(_bundle(site, run_id, redact), headers=headers, media_type="application/zip")
    return StreamingResponse(
        _pieces(site, run_id, kind, redact, picked, view.density), headers=headers, media_type=KINDS[kind]
    )


class _View(Struct, frozen=True):
    """The part of a run that is on the page from which it is exported."""

    types: list[str]
    density: str


def _view(request: Request) -> _View:
    types = [name for name in request.query_params.get("types", "").split(",") if name in TYPES]
    density = request.query_params.get("density", "")
    return _View(types, density if density in DENSITIES else "normal")


def export_several(site: Site, request: Request) -> Response:
    """`/export.zip?run=ID&run=ID&kind=html`: a zip with a document for each run."""
    kind = request.query_params.get("kind", "html")
    if kind not in KINDS:
        raise InvalidQuery(f"runs are exported as one of {', '.join(KINDS)}, not {kind!r}")
    asked = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 1 <= len(asked) <= MOST:
        raise InvalidQuery(f"choose between 1 and {MOST} runs in the list; {len(asked)} were chosen")
    run_ids = []
    for each in asked:
        with site.run(each) as (_, _, run_id):
            run_ids.append(run_id)
    headers = {"content-disposition": 'attachment; filename="runs.zip"'}
    pieces = _zipped(site, run_ids, kind, _is_masked(site, request))
    return StreamingResponse(pieces, headers=headers, media_type="application/zip")


def _is_masked(site: Site, request: Request) -> bool:
    return site.mask is not None or request.query_params.get("redact") == "1"


def _zipped(site: Site, run_ids: Sequence[str], kind: str, redact: bool) -> Iterator[bytes]:
    with tempfile.TemporaryFile(prefix="stenograph-") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for run_id in run_ids:
                with packed.open(f"{run_id}.{kind}", "w") as member:
                    for piece in _pieces(site, run_id, kind, redact):
                        member.write(piece)
        file.seek(0)
        yield from iter(partial(file.read, _CHUNK), b"")


def _bundle(site: Site, run_id: str, redact: bool) -> Iterator[bytes]:
    """What `steno bundle create --no-environment` makes: the server's environment is not the run's."""
    # Here, not above: loading what masks and writes a bundle would be a third of the server's start.
    from stenograph.bundle.create import write_bundle
    from stenograph.bundle.mask import BundleMask
    from stenograph.bundle.writing import BundleOptions, Extras

    with tempfile.TemporaryDirectory(prefix="stenograph-") as folder:
        target = Path(folder) / "bundle.zip"
        options = BundleOptions(redact=redact, environment=False)
        with site.runs.open(run_id) as run:
            mask = BundleMask() if redact else None
            if mask is not None:
                mask.learn(run.kind.for_bundle())
            write_bundle(target, run.kind.for_bundle(), options, Extras(), source=run.kind.place, mask=mask)
        with target.open("rb") as file:
            yield from iter(partial(file.read, _CHUNK), b"")


def _pieces(
    site: Site, run_id: str, kind: str, redact: bool, picked: Set[int] | None = None, density: str = "normal"
) -> Iterator[bytes]:
    """The document; `picked` are the numbers of its events, None for all."""
    with site.runs.open(run_id, redact=redact) as run:
        for text in _texts(run, kind, picked, density):
            yield text.encode("utf-8", "replace")


def _texts(run: RunReader, kind: str, picked: Set[int] | None, density: str) -> Iterator[str]:
    def read() -> Iterator[Event]:
        events = run.events(keep_raw=kind == "json")
        return events if picked is None else (event for event in events if event.seq in picked)

    match kind:
        case "html":
            yield from html_page(read, life=run.kind.life(), prices=load_prices(), density=density)
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
