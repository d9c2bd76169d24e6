"""Pages in a real Chromium: Debian's, driven by playwright. Nothing but the page itself may be asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from serving import WAIT, until
from stenograph.model import Event
from stenograph.render.html import html_page

CHROMIUM = "/usr/bin/chromium"
expect.set_options(timeout=WAIT * 1000)
SAYING = """window.said = []; new MutationObserver(() => {
  const words = document.getElementById('toast')?.textContent;
  if (words) said.push(words);
}).observe(document, { subtree: true, childList: true, characterData: true });"""
"""Keeps what a page says to its reader for a moment."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests here open many pages: each has more time, none is meant to need it."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(900))


@dataclass
class Opened:
    """A page in the browser, and everything that it did besides being read."""

    page: Page
    url: str
    dialogs: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """Of anything but the page itself."""
    complaints: list[str] = field(default_factory=list)
    """Errors of scripts, and whatever the console says."""

    def wait_for_words(self, words: str) -> None:
        """Wait until the page has said this to its reader."""
        until(self.page, lambda: words in self.page.evaluate("said"))

    def assert_quiet(self) -> None:
        """It has asked for nothing, run nothing of others', and broken nothing."""
        assert self.dialogs == []
        assert self.requests == []
        assert self.complaints == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a module; while it is there, the thread has an event loop that nobody may run."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=WAIT * 1000)
        yield browser
        browser.close()


Open = Callable[..., Opened]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """`open_page(events, anchor="", **context)`: the page of the events, loaded."""
    contexts = []

    def opened(events: Iterable[Event], anchor: str = "", **options: Any) -> Opened:
        file = tmp_path / "page.html"
        kept = list(events)
        file.write_text("".join(html_page(lambda: kept)), "utf-8")
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(WAIT * 1000)
        context.add_init_script(SAYING)
        page = context.new_page()
        seen = Opened(page, file.as_uri())
        page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("request", lambda request: _note(seen, request.url))
        page.goto(seen.url + (f"#{anchor}" if anchor else ""))
        return seen

    yield opened
    for context in contexts:
        context.close()


def _note(seen: Opened, url: str) -> None:
    if url.partition("#")[0] != seen.url and not url.startswith("data:image/"):
        seen.requests.append(url)
