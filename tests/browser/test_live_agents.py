"""What agents append to files of their own appears on the page while somebody looks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from archive_cases import THREAD, codex_line, thread_path, written
from serving import Visitor, serving, visiting

pytestmark = pytest.mark.browser
GEMINI = "a7ea568a-61f7-480d-90f7-e454237f0d5b"
KEPT = Path(__file__).parents[1] / "golden" / "gemini_cli" / "parity" / "input"


@pytest.fixture
def live(browser: Browser, tmp_path: Path) -> Iterator[tuple[Path, Visitor]]:
    with serving(tmp_path) as server, visiting(browser, server) as visitor:
        yield tmp_path / "home", visitor
        assert visitor.complaints == []


def test_codex_appears(live: tuple[Path, Visitor]) -> None:
    """A rollout that grows: the run comes to the list, and its prompts to its page, once each."""
    home, visitor = live
    page = visitor.open("/")  # there is no archive yet
    written(thread_path(home), codex_line(0), codex_line(1, "look around"))
    expect(page.locator(f"#run-{THREAD}")).to_have_count(1)
    page = visitor.open(f"/runs/{THREAD}?unit=1")
    for number in (2, 3):
        written(thread_path(home), codex_line(number, f"prompt number {number}"))
        expect(page.locator("main .user", has_text=f"prompt number {number}")).to_have_count(1)


def test_gemini_appears(live: tuple[Path, Visitor]) -> None:
    """A chat that is written line by line."""
    home, visitor = live
    (source,) = KEPT.glob("chats/session-*.jsonl")
    lines = source.read_bytes().splitlines(keepends=True)
    place = home / ".gemini" / "tmp" / "0" / "chats" / source.name
    page = visitor.open("/")
    asked = next(number for number, line in enumerate(lines) if json.loads(line).get("type") == "user")
    written(place, *lines[: asked + 1])
    expect(page.locator(f"#run-{GEMINI}")).to_have_count(1)
    page = visitor.open(f"/runs/{GEMINI}")
    written(place, *lines[asked + 1 :])
    expect(page.locator("main .tool").first).to_be_attached()
    expect(page.locator("main")).to_contain_text("All of it is done.")
