"""A run of 100,000 events in the browser: the first, a middle and the last page are alike; times are `make bench`'s."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from archive_cases import SESSION, claude_line, session_path, synced, written
from served import KINDS
from serving import Server, Visitor, serving, visiting
from stenograph.archive.store.home import home_of

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
LINES = 67_000
EVENTS = 100_000
ELEMENTS = 10_000
BYTES = 300_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("large")
    lines = (claude_line(number, KINDS[number % 4], "needle" if number == LINES - 5 else "") for number in range(LINES))
    written(session_path(folder / "home"), *lines)
    home_of(folder / "archive").make()
    synced(folder / "home", folder / "archive")
    with serving(folder, "--no-sync") as server:
        yield server


@pytest.fixture
def visitor(browser: Browser, server: Server) -> Iterator[Visitor]:
    with visiting(browser, server) as visitor:
        yield visitor
        assert visitor.complaints == []


def test_every_page_of_a_large_run_is_small(visitor: Visitor) -> None:
    """In elements and bytes, wherever in the run it is; the strip is as long as ever."""
    page = visitor.open("/help")
    told = page.request.get(f"{visitor.server.origin}/api/v1/runs/{SESSION}").json()
    assert told["last_seq"] >= EVENTS
    for unit in (1, told["units"] // 2, told["units"]):
        answer = page.goto(f"{visitor.server.origin}/runs/{SESSION}?unit={unit}")
        assert answer is not None
        assert len(answer.body()) < BYTES
        assert page.evaluate("document.querySelectorAll('*').length") <= ELEMENTS
        assert page.locator(f"#unit-{unit}").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    seqs = page.evaluate("[...document.querySelectorAll('[id^=seq-]')].map((each) => Number(each.id.slice(4)))")
    assert max(seqs) == told["last_seq"]
    assert len(seqs) == len(set(seqs)) <= 400


def test_find_and_links_reach_the_end_of_a_large_run(visitor: Visitor) -> None:
    """From the first page to the one hit near the end, by the keys; a link to a late event opens there."""
    page = visitor.open(f"/runs/{SESSION}?unit=1")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=needle**")
    expect(page.locator("#hits")).to_have_text("1 of 1")
    place = page.evaluate("[...CSS.highlights.get('current')][0].getBoundingClientRect().top")
    assert 0 <= place <= 900
    page.goto(f"{visitor.server.origin}/runs/{SESSION}/at/{EVENTS}")
    expect(page.locator(f"#seq-{EVENTS}")).to_be_in_viewport()


def test_all_hits_of_a_large_run_are_counted(visitor: Visitor, tmp_path: Path) -> None:
    """Also those on pages that are not loaded."""
    page = visitor.open("/help")
    found = page.request.get(f"{visitor.server.origin}/api/v1/runs/{SESSION}/find?q=helloWorld").json()
    assert found["total"] == len(found["seqs"]) == LINES - 1
    assert found["seqs"] == sorted(set(found["seqs"]))
