"""The application: which view serves which address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from importlib.resources import files

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from stenograph.errors import InvalidAgent, InvalidQuery, RunNotFound, StenographError
from stenograph.render.html.style import STYLE
from stenograph.server import (
    api,
    branching,
    changing,
    counting,
    explaining,
    exporting,
    helping,
    listing,
    looking,
    marking,
    run_page,
)
from stenograph.server.access import Access
from stenograph.server.answers import answer, html, json
from stenograph.server.feed import Feed
from stenograph.server.frame import plain_error
from stenograph.server.guard import Guard
from stenograph.server.site import Site
from stenograph.server.stream import stream

View = Callable[[Site, Request], Response]
Change = Callable[[Site, Request, bytes], Response]
_KINDS = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}

PAGES: dict[str, View] = {
    "/": listing.runs_page,
    "/live": listing.live_page,
    "/search": looking.search_page,
    "/runs/{run_id}": run_page.run_page,
    "/runs/{run_id}/at/{seq:int}": run_page.at_page,
    "/runs/{run_id}/raw/{seq:int}": run_page.raw_page,
    "/runs/{run_id}/find": looking.find_page,
    "/runs/{run_id}/tree": branching.tree_page,
    "/runs/{run_id}/changes": changing.changes_page,
    "/runs/{run_id}/explain": explaining.explain_page,
    "/diff": explaining.diff_page,
    "/runs/{run_id}/export.{kind}": exporting.export,
    "/export.zip": exporting.export_several,
    "/stats": counting.stats_page,
    "/help": helping.help_page,
}
DOCUMENTS: dict[str, View] = {
    "/api/v1/runs": api.runs,
    "/api/v1/runs/{run_id}": api.run,
    "/api/v1/runs/{run_id}/events": api.events,
    "/api/v1/runs/{run_id}/units": api.units,
    "/api/v1/runs/{run_id}/find": api.found_in_run,
    "/api/v1/search": api.search,
    "/api/v1/stats": api.stats,
    "/api/v1/health": api.health,
    "/api/v1/marks": marking.marks,
}


CHANGES: dict[str, Change] = {
    "/api/v1/marks": marking.change_mark,
    "/runs/{run_id}/marks": marking.change_by_form,
}
"""The changes that our own page may make by POST."""


def application(site: Site, access: Access, port: int, hosts: Iterable[str], feed: Feed) -> ASGIApp:
    """The page of a site, behind its guard. `feed` wakes its streams."""

    async def following(request: Request) -> Response:
        return stream(site, feed, request)

    routes = [
        *(Route(path, _taking(site, change), methods=["POST"]) for path, change in CHANGES.items()),
        Route("/static/{name}", _static),
        Route("/api/v1/stream", following, methods=["GET"]),
        *(Route(path, _answering(site, view, is_page=True), methods=["GET"]) for path, view in _pages(site).items()),
        *(Route(path, _answering(site, view, is_page=False), methods=["GET"]) for path, view in DOCUMENTS.items()),
    ]

    async def not_found(request: Request, _: Exception) -> Response:
        if request.url.path.startswith("/api/"):
            return json(request, {"error": "there is nothing at this address"}, 404)
        return html(request, plain_error(site, "Not found", "There is nothing at this address."), 404)

    app = Starlette(routes=routes, exception_handlers={404: not_found})
    return Guard(app, access, port, hosts)


def _pages(site: Site) -> dict[str, View]:
    """The pages of a site. The views of a bundle are loaded only for a bundle: they take a third of the start."""
    if site.bundle is None:
        return {**PAGES, "/bundle": _no_bundle, "/bundle/{view}": _no_bundle}
    from stenograph.server import bundling

    return {
        **PAGES,
        "/bundle": bundling.bundle_page,
        "/bundle/logs": bundling.logs_page,
        "/bundle/sql": bundling.sql_page,
    }


def _no_bundle(_: Site, __: Request) -> Response:
    raise RunNotFound("this is an archive; steno serve BUNDLE.zip shows a bundle")


def _answering(site: Site, view: View, *, is_page: bool) -> Callable[[Request], Awaitable[Response]]:
    """A view in a thread; our own errors become an answer of one line."""

    def answered(request: Request) -> Response:
        try:
            return view(site, request)
        except StenographError as error:
            is_mistake = isinstance(error, InvalidAgent | InvalidQuery)
            status = 404 if isinstance(error, RunNotFound) else 400 if is_mistake else 500
            text = site.text(str(error))
            if is_page:
                return html(request, plain_error(site, "That did not work", text), status)
            return json(request, {"error": text}, status)

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(answered, request)

    return endpoint


def _taking(site: Site, change: Change) -> Callable[[Request], Awaitable[Response]]:
    """A change with the body that was sent."""

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        is_page = not request.url.path.startswith("/api/")
        answering = _answering(site, lambda site, request: change(site, request, body), is_page=is_page)
        return await answering(request)

    return endpoint


def _load() -> dict[str, bytes]:
    static = files("stenograph.server") / "static"
    found = {file.name: file.read_bytes() for file in static.iterdir() if file.name.rpartition(".")[2] in _KINDS}
    found["style.css"] = STYLE.encode() + found.pop(
        "page.css"
    )  # in one answer: a page is not painted before its styles
    return found


STATIC = _load()
"""Every file that a page loads, by its name; nothing is read from a path of a URL."""


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return Response("There is no such file.\n", 404, media_type="text/plain")
    return answer(request, STATIC[name], _KINDS[name.rpartition(".")[2]])
