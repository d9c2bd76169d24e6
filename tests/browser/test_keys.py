"""Every key of the help does what it says, on a real page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from golden_cases import CASES, name_of
from sample_archive import SAMPLE, sample_archive
from serving import Server, Visitor, serving, until, visiting
from stenograph.server.helping import KEYS

pytestmark = pytest.mark.browser
COPIED = """window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text); };"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("keys")
    case = next(case for case in CASES if name_of(case) == "exchange/demo")
    with serving(sample_archive(folder, [case]), "--no-sync") as server:
        yield server


@pytest.fixture(scope="module")
def visitor(browser: Browser, server: Server) -> Iterator[Visitor]:
    with visiting(browser, server) as visitor:
        visitor.context.add_init_script(COPIED)
        yield visitor
        assert visitor.complaints == []


@pytest.fixture
def page(visitor: Visitor) -> Iterator[Page]:
    page = visitor.open(f"/runs/{SAMPLE}")
    yield page
    page.close()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def here(page: Page) -> str:
    """The event that is marked."""
    return page.locator(".is-here").get_attribute("id") or ""


def goes(page: Page, there: str, back: str, selector: str) -> None:
    """One key goes through all of a kind in order, the other one back."""
    expected = page.evaluate(
        "(selector) => [...document.querySelector('main').querySelectorAll(selector)]"
        ".filter((each) => each.getClientRects().length).map((each) => each.id)",
        selector,
    )
    assert len(expected) > 1
    found = []
    for _ in expected:
        press(page, there)
        found.append(here(page))
    assert found == expected
    for each in reversed(expected[:-1]):
        press(page, back)
        assert here(page) == each


def events(page: Page) -> None:
    press(page, "j")
    first = here(page)
    press(page, "j")
    assert here(page) != first
    press(page, "k")
    assert here(page) == first


def prompts(page: Page) -> None:
    press(page, "J", "J", "J")
    later = page.locator(".is-here").evaluate("(each) => each.getBoundingClientRect().top + scrollY")
    press(page, "K")
    assert page.locator(".is-here").evaluate("(each) => each.getBoundingClientRect().top + scrollY") < later


def up(page: Page) -> None:
    press(page, "3")
    page.locator("details.agent").first.evaluate("(each) => { each.open = true; }")
    target = page.locator("details.agent .ev").first.get_attribute("id")
    while here(page) != target if page.locator(".is-here").count() else True:
        press(page, "j")
    press(page, "u")
    assert "tool" in (page.locator(".is-here").get_attribute("class") or "")
    press(page, "Escape", "u")
    page.wait_for_url("**/")


def into(page: Page) -> None:
    call = page.locator(".tool:has(details.agent)").get_attribute("id")
    while here(page) != call if page.locator(".is-here").count() else True:
        press(page, "j")
    press(page, "Enter")
    assert page.locator("details.agent").first.evaluate("(each) => each.open")
    expect(page.locator("details.agent .is-here")).to_have_count(1)


def folds(page: Page) -> None:
    shells = "details.tool.shell:not(details.agent *)"
    press(page, "e")
    before = page.locator(".is-here").evaluate("(each) => each.open")
    press(page, "o")
    assert page.locator(".is-here").evaluate("(each) => each.open") is not before
    press(page, "O")
    assert len(set(page.locator(shells).evaluate_all("(all) => all.map((each) => each.open)"))) == 1


def densities(page: Page) -> None:
    for key, name in (("1", "brief"), ("3", "all"), ("2", "normal")):
        press(page, key)
        expect(page.locator("body")).to_have_attribute("data-density", name)
        expect(page).to_have_url(re.compile(f"density={name}"))
        assert (page.locator("main .tool").first.is_visible()) is (name != "brief")


def thinking(page: Page) -> None:
    press(page, "t")
    assert page.locator("details.think").first.evaluate("(each) => each.open")
    press(page, "t")
    assert not page.locator("details.think").first.evaluate("(each) => each.open")


def find(page: Page) -> None:
    press(page, "/")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Find in this run"


def hits(page: Page) -> None:
    press(page, "/")
    page.keyboard.type("delay")
    press(page, "Enter")
    expect(page.locator("#hits")).to_contain_text("1 of ")
    expect(page.locator(".switches .strip .hit").first).to_be_attached()
    press(page, "Escape", "n")
    expect(page.locator("#hits")).to_contain_text("2 of ")
    press(page, "N")
    expect(page.locator("#hits")).to_contain_text("1 of ")


def start(page: Page) -> None:
    page.evaluate("scrollTo(0, 400)")
    press(page, "g", "g")
    assert page.evaluate("scrollY") == 0


def end(page: Page) -> None:
    press(page, "G")
    until(page, lambda: page.evaluate("innerHeight + scrollY >= document.documentElement.scrollHeight - 2"))


def beside(page: Page) -> None:
    older = page.locator("body").get_attribute("data-older") or page.locator("body").get_attribute("data-newer")
    press(page, "]" if page.locator("body").get_attribute("data-older") else "[")
    page.wait_for_url(f"**/runs/{older}")
    press(page, "[" if page.locator("body").get_attribute("data-newer") else "]")
    page.wait_for_url(lambda url: older not in url)


def copies(page: Page) -> None:
    press(page, "e")
    seq = here(page).removeprefix("seq-")
    press(page, "y", "Y")
    link, text = page.evaluate("window.copied")
    assert link.endswith(f"/runs/{SAMPLE}/at/{seq}")
    assert "pytest -q tests/test_client.py" in text


def resumes(page: Page) -> None:
    press(page, "R")
    assert page.evaluate("window.copied") == [f"steno resume {SAMPLE}"]


def raw(page: Page) -> None:
    press(page, "e")
    seq = here(page).removeprefix("seq-")
    press(page, "r")
    page.wait_for_url(f"**/runs/{SAMPLE}/raw/{seq}")


def star(page: Page) -> None:
    press(page, "s")
    expect(page.get_by_role("button", name="Star")).to_have_text("★")
    press(page, "s")
    expect(page.get_by_role("button", name="Star")).to_have_text("☆")


def theme(page: Page) -> None:
    press(page, "d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    press(page, "d")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def palette(page: Page) -> None:
    press(page, "Control+k")
    page.keyboard.type("stat")
    press(page, "Enter")
    page.wait_for_url("**/stats")


def help_page(page: Page) -> None:
    press(page, "?")
    page.wait_for_url("**/help")


def escape(page: Page) -> None:
    press(page, "e")
    expect(page.locator(".is-here")).to_have_count(1)
    press(page, "Escape")
    expect(page.locator(".is-here")).to_have_count(0)
    press(page, "Control+k")
    expect(page.locator("dialog[open]")).to_have_count(1)
    press(page, "Escape")
    expect(page.locator("dialog")).to_have_count(0)


DOES: dict[str, Callable[[Page], None]] = {
    "j k": events,
    "J K": prompts,
    "e E": lambda page: goes(page, "e", "E", ".ev.failed,.ev.error"),
    "c C": lambda page: goes(page, "c", "C", ".tool:is(.edit,.write,:has(.diff))"),
    "u": up,
    "Enter": into,
    "o O": folds,
    "1 2 3": densities,
    "t": thinking,
    "/": find,
    "n N": hits,
    "g g": start,
    "G": end,
    "[ ]": beside,
    "y Y": copies,
    "R": resumes,
    "r": raw,
    "s": star,
    "d": theme,
    "Ctrl K": palette,
    "?": help_page,
    "Esc": escape,
}


@pytest.mark.parametrize("key", [key for key, _ in KEYS])
def test_a_key_does_what_the_help_says(page: Page, key: str) -> None:
    """Each key of the list, and no key is in the list without a test."""
    DOES[key](page)


def test_no_key_works_while_somebody_types(page: Page) -> None:
    """What is typed into a field is text, in the note of a run, too."""
    page.locator(".marks summary").click()
    note = page.locator(".marks textarea")
    note.click()
    page.keyboard.type("jkeEcC123tgG[]yYRrsd?")
    assert note.input_value() == "jkeEcC123tgG[]yYRrsd?"
    expect(page.locator("body")).to_have_attribute("data-density", "normal")
    assert page.locator(".is-here").count() == 0
    assert "/help" not in page.url
