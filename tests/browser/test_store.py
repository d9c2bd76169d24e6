"""`steno serve --store` in a real Chromium: everybody's runs from the list to an event, without complaints."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from archive_of_goldens import CLAUDE, make_archive
from lakes import age, push_and_load, store_of
from serving import Server, serving, visiting
from stenograph.archive.store.identity import FILE

PLACES = ("/", "/live", "/stats?by=model", "/search?q=hello&since=2020-01-01", "/help", f"/runs/{CLAUDE}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Of a store with golden sessions of four agents."""
    folder = tmp_path_factory.mktemp("store")
    home, sessions = make_archive(folder)
    age(sessions)
    identity = home / "kept" / FILE
    identity.write_text(json.dumps({**json.loads(identity.read_text()), "host": "build-7"}))
    store = store_of(folder / "store")
    push_and_load([home], store)
    with serving(folder, "--store", store.url) as server:
        yield server


@pytest.mark.browser
@pytest.mark.parametrize("width", [1440, 320])
def test_every_page_of_a_store_fits_and_is_quiet(browser: Browser, server: Server, width: int) -> None:
    """Nothing is wider than the window, nothing is asked of another host, and no stream or mark is tried."""
    with visiting(browser, server, viewport={"width": width, "height": 900}) as visitor:
        for place in PLACES:
            asked: list[str] = []
            page = visitor.open("/help")
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(server.origin + place, wait_until="load")
            page.wait_for_timeout(1800)  # a page of an archive says after 1.5 s how far it was read
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
            assert not [url for url in asked if "stream" in url or "marks" in url], place
            page.close()
        assert visitor.complaints == []


@pytest.mark.browser
def test_from_the_list_to_an_event(browser: Browser, server: Server) -> None:
    """Filter by machine, open a run, find a word in it, and go to the event."""
    with visiting(browser, server) as visitor:
        page = visitor.open("/?machine=build-7")
        rows = page.locator("table.runs tbody tr")
        expect(rows).to_have_count(20)
        expect(rows.first.locator("td[data-head=Machine]")).to_have_text("build-7")
        page.locator(f"#run-{CLAUDE} td[data-head=Run] a").click()
        expect(page.locator("main.transcript .ev").first).to_be_visible()
        page.goto(f"{server.origin}/runs/{CLAUDE}/find?q=the")
        page.locator("ol.hits a").first.click()
        page.wait_for_url("**#seq-*")
        assert visitor.complaints == []
