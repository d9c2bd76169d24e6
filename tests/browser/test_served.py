"""The served page in a real Chromium: every page, without script, live, with keys, and when somebody is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from archive_cases import SESSION, THREAD, claude_line, codex_line, session_path, subagent_path, thread_path, written
from served import KINDS
from serving import Server, Visitor, port_kept_free, serving, until, visiting

PLACES = (
    "/",
    "/live",
    "/search?q=helloWorld",
    "/stats",
    "/help",
    f"/runs/{SESSION}?unit=1",
    f"/runs/{SESSION}/tree",
    f"/runs/{SESSION}/changes",
    f"/runs/{SESSION}/find?q=helloWorld",
    f"/runs/{SESSION}/raw/1",
)

NAMED = """[...document.querySelectorAll('input,button,a[href],select')].every((each) => !each.getClientRects().length
  || each.textContent.trim() || each.getAttribute('aria-label') || each.labels?.length)"""


def kept(folder: Path, lines: int = 200) -> Path:
    """A home with a session and a thread."""
    home = folder / "home"
    written(session_path(home), *(claude_line(number, KINDS[number % 4]) for number in range(lines)))
    written(thread_path(home), *(codex_line(number) for number in range(3)))
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(kept(tmp_path_factory.mktemp("served"))) as server:
        yield server


@pytest.fixture
def visitor(browser: Browser, server: Server) -> Iterator[Visitor]:
    with visiting(browser, server) as visitor:
        wait_for_runs(visitor)
        yield visitor
        assert visitor.complaints == []


def wait_for_runs(visitor: Visitor, number: int = 2) -> None:
    """Until the archive has what the home has."""
    page = visitor.context.new_page()
    api = f"{visitor.server.origin}/api/v1"
    until(page, lambda: page.request.get(f"{api}/health").json()["keeping"] == "yes")
    assert len(page.request.get(f"{api}/runs").json()["runs"]) == number
    page.close()


QUICK = ("dark", 320)
"""What `make test` looks at; `make browser` looks at the others, too."""
LOOKS = [
    pytest.param(scheme, width, marks=[] if (scheme, width) == QUICK else pytest.mark.browser)
    for scheme in ("light", "dark")
    for width in (1440, 390, 320)
]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_every_page_fits_and_is_quiet(browser: Browser, server: Server, scheme: str, width: int) -> None:
    """No page scrolls sideways, complains, or asks another host, on a screen and on a phone, light and dark."""
    with visiting(browser, server, viewport={"width": width, "height": 844}, color_scheme=scheme) as visitor:
        wait_for_runs(visitor)
        for place in PLACES:
            page = visitor.open(place)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
            assert page.evaluate(NAMED), place
            page.close()
        assert visitor.complaints == []


def test_it_works_without_script(browser: Browser, server: Server) -> None:
    """List, run, pages, find and search are links and forms."""
    with visiting(browser, server, java_script_enabled=False) as visitor:
        wait_for_runs(visitor)
        page = visitor.open("/")
        page.locator("table.runs a", has_text="helloWorld").first.click()
        expect(page.locator("main.transcript .user").first).to_be_visible()
        page.goto(f"{server.origin}/runs/{SESSION}?unit=1")
        page.locator(".toc a", has_text="Later").click()
        expect(page.locator("#unit-21")).to_be_visible()
        page.get_by_label("Find in this run").fill("line 150")
        page.keyboard.press("Enter")
        expect(page.locator(".hits mark").first).to_be_visible()
        page.locator(".hits a").first.click()
        page.wait_for_url("**#seq-*")
        expect(page.locator("main.transcript")).to_be_visible()  # the page is there, not only its address
        field = page.get_by_label("Search all runs")
        field.fill("codex")
        field.press("Enter")
        page.wait_for_url("**/search?*")
        expect(page.locator(".hits li").first).to_be_visible()
        assert visitor.complaints == []


FRAMES = "for (let i = 0; i < 12; i++) await new Promise((done) => requestAnimationFrame(done));"
"""Until a page is drawn as it stays."""
HIT = f"""async () => {{ {FRAMES} return [...CSS.highlights.get('current')][0].getBoundingClientRect().toJSON(); }}"""


@pytest.mark.browser
def test_find_shows_the_hit(visitor: Visitor) -> None:
    """Also on a page that is not loaded: every hit that the keys go to lies within the window."""
    page = visitor.open(f"/runs/{SESSION}?unit=1")
    page.keyboard.press("/")
    page.keyboard.type("helloWorld")
    page.keyboard.press("Enter")
    expect(page.locator("#hits")).to_have_text("1 of 200")
    page.keyboard.press("Escape")
    for key, numbers in (("n", range(2, 14)), ("N", range(12, 0, -1)), ("N", (200, 199))):
        for number in numbers:
            page.keyboard.press(key)
            if number == 200:
                page.wait_for_url("**q=helloWorld**")
            expect(page.locator("#hits")).to_have_text(f"{number} of 200")
            box = page.evaluate(HIT)
            assert 0 <= box["top"] <= 900, number
            assert box["height"] > 0


@pytest.mark.browser
def test_a_link_opens_at_its_event(visitor: Visitor) -> None:
    """The permanent link scrolls to the event and marks it."""
    page = visitor.open(f"/runs/{SESSION}/at/230")
    target = page.locator("#seq-230")
    expect(target).to_have_class(re.compile("is-here"))
    expect(target).to_be_in_viewport()


@pytest.mark.browser
def test_keys(visitor: Visitor) -> None:
    """Each moves what it says, and none while somebody types."""
    page = visitor.open(f"/runs/{SESSION}?unit=1")
    page.keyboard.press("j")
    first = page.locator(".is-here").get_attribute("id")
    page.keyboard.press("j")
    assert page.locator(".is-here").get_attribute("id") != first
    page.keyboard.press("k")
    assert page.locator(".is-here").get_attribute("id") == first
    page.keyboard.press("1")
    expect(page.locator("body")).to_have_attribute("data-density", "brief")
    expect(page).to_have_url(re.compile("density=brief"))
    page.keyboard.press("2")
    page.keyboard.press("d")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("d")
    page.get_by_label("Find in this run").focus()
    page.keyboard.type("jd1")
    assert page.get_by_label("Find in this run").input_value() == "jd1"
    expect(page.locator("body")).to_have_attribute("data-density", "normal")
    page.keyboard.press("Escape")
    page.keyboard.press("]")
    page.wait_for_url("**unit=21**")
    page.keyboard.press("[")
    page.wait_for_url("**unit=1*")
    page.keyboard.press("Control+k")
    page.keyboard.type("stats")
    page.keyboard.press("Enter")
    page.wait_for_url("**/stats**")
    page.keyboard.press("?")
    page.wait_for_url("**/help")


@pytest.mark.browser
def test_a_copy_button_takes_what_is_under_the_mouse(visitor: Visitor) -> None:
    """The text of a message, without what stands around it."""
    visitor.context.add_init_script(
        "window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); };"
    )
    page = visitor.open(f"/runs/{SESSION}?unit=1")
    page.locator("article.user").first.hover()
    page.get_by_role("button", name="Copy").click()
    assert page.evaluate("window.copied") == ["line 0 says helloWorld"]


@pytest.mark.browser
def test_back_keeps_the_place(visitor: Visitor) -> None:
    """From the raw event back to where the reader was, and forth again."""
    page = visitor.open(f"/runs/{SESSION}/at/60")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.wait_for_url("**/raw/**")
    page.go_back()
    expect(page.locator("#seq-60")).to_be_in_viewport()
    page.go_forward()
    page.wait_for_url("**/raw/**")


@pytest.mark.browser
def test_without_locks_a_tab_has_a_stream_of_its_own(live: tuple[Path, Visitor]) -> None:
    """In a private window, say."""
    folder, visitor = live
    visitor.context.add_init_script("delete Navigator.prototype.locks; delete window.BroadcastChannel;")
    page = visitor.open(f"/runs/{SESSION}?unit=7")
    assert not page.evaluate("Boolean(navigator.locks || window.BroadcastChannel)")
    written(session_path(folder / "home"), claude_line(100, "assistant", "without locks"))
    expect(page.locator("main").get_by_text("without locks")).to_have_count(1)


@pytest.fixture
def live(browser: Browser, tmp_path: Path) -> Iterator[tuple[Path, Visitor]]:
    """A folder of its own to write to, and a visitor who watches."""
    with serving(kept(tmp_path, 32)) as server, visiting(browser, server) as visitor:
        wait_for_runs(visitor)
        yield tmp_path, visitor
        assert visitor.complaints == []


def transcript(page: Page) -> list[int]:
    """The numbers of the events on a page, in their order."""
    return page.evaluate("[...document.querySelectorAll('[id^=seq-]')].map((each) => Number(each.id.slice(4)))")


def test_what_is_appended_appears(live: tuple[Path, Visitor]) -> None:
    """Text and calls at the end of the page, a result inside its call; who is at the end stays there."""
    folder, visitor = live
    page = visitor.open(f"/runs/{SESSION}?unit=7")
    file = session_path(folder / "home")
    page.keyboard.press("G")
    written(file, claude_line(100, text="a new prompt"))
    expect(page.get_by_text("a new prompt").first).to_be_visible()
    written(file, claude_line(101, "call", "sleep 1"))
    call = page.locator("details.tool", has_text="sleep 1").last
    expect(call).to_be_attached()
    assert "no result" not in call.inner_text()
    written(file, claude_line(102, "result", "slept well"))
    expect(page.locator("details.tool", has_text="sleep 1").last).to_contain_text("slept well")
    for number in range(103, 130):
        written(file, claude_line(number, "assistant", f"answer {number}"))
    expect(page.get_by_text("answer 129")).to_be_in_viewport()
    numbers = transcript(page)
    assert len(numbers) == len(set(numbers))


READ = f"""async () => {{
  {FRAMES}
  const tops = [...document.querySelectorAll('.ev[id]')].map((each) => [each.id, each.getBoundingClientRect().top]);
  return tops.map(([id, top]) => [id, Math.round(top)]).find(([, top]) => top > 100);
}}"""
"""The event that somebody reads now, and how high it stands. Figures above it may grow: the page scrolls with them."""


@pytest.mark.browser
def test_a_reader_elsewhere_is_not_moved(live: tuple[Path, Visitor]) -> None:
    """Scrolled up, nothing moves, and a pill counts what came; a click leads there."""
    folder, visitor = live
    page = visitor.open(f"/runs/{SESSION}?unit=1")
    page.evaluate("document.getElementById('unit-3').scrollIntoView({ block: 'start' })")
    place = page.evaluate(READ)
    for number in range(100, 103):
        written(session_path(folder / "home"), claude_line(number, "assistant", f"answer {number}"))
    expect(page.locator(".pill")).to_have_text("6 new ↓")
    assert page.evaluate(READ) == place
    page.locator(".pill").click()
    expect(page.get_by_text("answer 102")).to_be_in_viewport()


@pytest.mark.browser
def test_a_subagent_appears(live: tuple[Path, Visitor]) -> None:
    """With a frame of its own, and what it says later goes into it."""
    folder, visitor = live
    page = visitor.open(f"/runs/{SESSION}?unit=7")
    side = {"isSidechain": True, "agentId": "a1"}
    written(subagent_path(folder / "home"), claude_line(200, text="look there", **side))
    expect(page.locator("details.agent")).to_have_count(1)
    written(subagent_path(folder / "home"), claude_line(201, "assistant", "found it", **side))
    expect(page.locator("details.agent", has_text="found it")).to_have_count(1)


@pytest.mark.browser
def test_the_list_is_live(live: tuple[Path, Visitor]) -> None:
    """A run that grows is marked, with its new figures."""
    folder, visitor = live
    page = visitor.open("/")
    written(session_path(folder / "home"), claude_line(100, "call", "one more"))
    expect(page.locator(f"#run-{SESSION}.unread")).to_have_count(1)


@pytest.mark.browser
def test_an_old_run_in_another_tab_is_not_put_on_top_of_the_list(browser: Browser, tmp_path: Path) -> None:
    """The stream tells about it, too, but it is on a later page."""
    newer = [f"0f1e2d3c-4b5a-4978-8695-{number:012}" for number in range(100)]
    for number, session in enumerate(newer):
        at = f"2026-03-02T10:00:{number % 60:02}.000Z"
        written(session_path(tmp_path / "home", session), claude_line(1000 + number, session=session, timestamp=at))
    with serving(kept(tmp_path, 8)) as server, visiting(browser, server) as visitor:
        wait_for_runs(visitor, 100)  # a page of them
        page = visitor.open("/")
        visitor.open(f"/runs/{SESSION}")
        for number in (200, 201):  # the second is told after everything that was told at first
            more = claude_line(
                number, session=newer[0], timestamp=f"2026-03-03T10:00:00.{number}Z", text=f"say {number}"
            )
            written(session_path(tmp_path / "home", newer[0]), more)
            expect(page.locator(f"#run-{newer[0]} [data-head=Turns]")).to_have_text(str(number - 198))
        expect(page.locator(f"#run-{SESSION}")).to_have_count(0)
        assert visitor.complaints == []


class Held:
    """A file of our own pages that is not answered until it is let go, so that a page stays without its script."""

    def __init__(self, visitor: Visitor, name: str) -> None:
        self._routes: list[Route] = []
        self._context, self._place = visitor.context, f"**/static/{name}"
        self._context.route(self._place, lambda route: self._routes.append(route))

    def wait(self, page: Page) -> None:
        """Until the page has asked for it."""
        until(page, lambda: self._routes)

    def let_go(self) -> None:
        """Answer, and do not hold it again."""
        self._context.unroute(self._place)
        for route in self._routes:
            route.continue_()


def opened_without_script(visitor: Visitor, place: str) -> tuple[Page, Held]:
    """A tab that has its page, but not yet its stream."""
    held = Held(visitor, "live.js")
    page = visitor.context.new_page()
    page.goto(visitor.server.origin + place, wait_until="commit")
    held.wait(page)
    return page, held


@pytest.mark.browser
def test_a_tab_that_loads_slowly_misses_nothing(live: tuple[Path, Visitor]) -> None:
    """What the stream of another tab has sent before it listened comes again: each tab has every event once."""
    folder, visitor = live
    place = f"/runs/{SESSION}?unit=7"
    first = visitor.open(place)
    slow, held = opened_without_script(visitor, place)
    written(session_path(folder / "home"), *(claude_line(100 + n, "assistant", f"early {n}") for n in range(3)))
    expect(first.get_by_text("early 2")).to_have_count(1)
    held.let_go()
    expect(slow.get_by_text("early 2")).to_have_count(1)
    slower, held = opened_without_script(visitor, place)
    written(session_path(folder / "home"), claude_line(110, "call", "sleep 1"))
    expect(slow.locator("details.tool", has_text="sleep 1")).to_have_count(1)
    written(session_path(folder / "home"), claude_line(111, "result", "slept well"))
    held.let_go()
    for tab in (first, slow, slower):
        expect(tab.locator("details.tool", has_text="sleep 1").last).to_contain_text("slept well")
        expect(tab.get_by_text("early 1")).to_have_count(1)
    for tab in (first, slow, slower):
        numbers = transcript(tab)
        assert len(numbers) == len(set(numbers))
        assert sorted(numbers) == list(range(min(numbers), max(numbers) + 1))
    assert len({max(transcript(tab)) for tab in (first, slow, slower)}) == 1


@pytest.mark.browser
def test_a_list_that_loads_slowly_misses_nothing(live: tuple[Path, Visitor]) -> None:
    """A run that changed before a second list listened is marked there, too, and one that did not is not."""
    folder, visitor = live
    first = visitor.open("/")
    slow, held = opened_without_script(visitor, "/")
    written(session_path(folder / "home"), claude_line(100, "call", "one more"))
    expect(first.locator(f"#run-{SESSION}.unread")).to_have_count(1)
    held.let_go()
    expect(slow.locator(f"#run-{SESSION}.unread")).to_have_count(1)
    for tab in (first, slow):
        expect(tab.locator("table.runs tbody tr")).to_have_count(2)
        expect(tab.locator("tr.unread")).to_have_count(1)


@pytest.mark.browser
def test_a_page_resumes_after_the_server_was_killed(browser: Browser, tmp_path: Path) -> None:
    """Each event once, none missing: what came before, while nobody served, and after; the list has it, too."""
    file = session_path(tmp_path / "home")
    with (
        port_kept_free() as port,
        serving(kept(tmp_path, 32), port=port) as server,
        visiting(browser, server) as visitor,
    ):
        wait_for_runs(visitor)
        page = visitor.open(f"/runs/{SESSION}?unit=7")
        listing = visitor.open("/")
        written(file, claude_line(100, "assistant", "before it died"))
        expect(page.get_by_text("before it died")).to_have_count(1)
        server.kill()
        written(file, claude_line(101, "assistant", "while it was dead"))
        written(thread_path(tmp_path / "home"), codex_line(3))
        with serving(tmp_path, port=port):
            written(file, claude_line(102, "assistant", "when it was back"))
            expect(page.get_by_text("when it was back")).to_have_count(1)
            expect(page.get_by_text("while it was dead")).to_have_count(1)
            expect(page.get_by_text("before it died")).to_have_count(1)
            expect(listing.locator(f"#run-{THREAD}.unread")).to_have_count(1)
            numbers = transcript(page)
            assert len(numbers) == len(set(numbers))


@pytest.mark.browser
def test_twelve_tabs_share_one_stream(live: tuple[Path, Visitor]) -> None:
    """All load, all get the event once; when the one that has the stream closes, the next takes over."""
    folder, visitor = live
    tabs = [visitor.open(f"/runs/{SESSION}?unit=7") for _ in range(12)]

    def leaders() -> list[Page]:
        return [tab for tab in tabs if tab.locator("body[data-leads]").count()]

    until(tabs[0], leaders)
    assert len(leaders()) == 1
    written(session_path(folder / "home"), claude_line(100, "assistant", "for all of you"))
    for tab in tabs:
        expect(tab.get_by_text("for all of you")).to_have_count(1)
    (leader,) = leaders()
    leader.close()
    tabs.remove(leader)
    written(session_path(folder / "home"), claude_line(101, "assistant", "and the others"))
    for tab in tabs:
        expect(tab.get_by_text("and the others")).to_have_count(1)
        expect(tab.get_by_text("for all of you")).to_have_count(1)
    assert len(leaders()) == 1


def test_a_star_is_kept(visitor: Visitor) -> None:
    """By a key or a click, and still there in the list and after a reload."""
    page = visitor.open(f"/runs/{SESSION}?unit=1")
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Star")).to_have_text("★")
    page.reload()
    expect(page.get_by_role("button", name="Star")).to_have_text("★")
    expect(visitor.open("/?starred=1").locator("table.runs tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Star").click()
    expect(page.get_by_role("button", name="Star")).to_have_text("☆")


EVIL = (
    "</title></style></script><script>window.evil = 1</script><img src=x onerror='window.evil = 1'>"
    '" onclick="evil()" [click](javascript:window.evil=1) <svg onload=\'window.evil = 1\'> '
    "\x1b[31mred\x1b[0m \u202egnp.exe"
)


@pytest.mark.browser
def test_a_hostile_transcript_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    """Not on any page, and not when it comes while somebody looks: tags, links, controls are text."""
    file = session_path(tmp_path / "home")
    lines = [claude_line(0, text=EVIL), claude_line(1, "assistant", EVIL), claude_line(2, "call", EVIL)]
    written(file, *lines, claude_line(3, "result", EVIL))
    with serving(tmp_path) as server, visiting(browser, server) as visitor:
        wait_for_runs(visitor, 1)
        for place in (*PLACES[:5], *(place.replace("helloWorld", "evil") for place in PLACES[5:])):
            page = visitor.open(place)
            assert page.evaluate("window.evil") is None
            assert "\u202e" not in page.content()
            assert page.locator("a[href^='javascript']").count() == 0
            page.close()
        page = visitor.open(f"/runs/{SESSION}?unit=1")
        written(file, claude_line(4, "assistant", f"live {EVIL}"), claude_line(5, "call", EVIL))
        expect(page.get_by_text("live </title>").first).to_be_attached()
        assert page.evaluate("window.evil") is None
        assert visitor.complaints == []


def test_a_stranger_in_the_browser_gets_nothing(browser: Browser, server: Server) -> None:
    """Without the address that was printed: no page, no stream; and no token is in any address afterwards."""
    context = browser.new_context()
    try:
        page = context.new_page()
        assert page.goto(f"{server.origin}/").status == 401
        assert page.goto(f"{server.origin}/api/v1/stream?runs=list").status == 401
        assert page.goto(f"{server.origin}/?token=wrong").status == 401
        assert context.cookies() == []
        page.goto(server.address)
        assert "token" not in page.url
        assert [cookie["httpOnly"] for cookie in context.cookies()] == [True]
    finally:
        context.close()


NOTIFICATION = """window.Notification = class {
  static permission = 'granted';
  constructor(title, { body }) { (window.notified ??= []).push(`${title}: ${body}`); }
};"""


@pytest.mark.browser
def test_a_run_that_waits_is_notified(live: tuple[Path, Visitor]) -> None:
    """Once, where the reader allowed it, also from the list."""
    folder, visitor = live
    visitor.context.add_init_script(NOTIFICATION)
    page = visitor.open("/")
    question = json.loads(claude_line(101, "call"))
    question["message"]["content"][0] |= {"name": "AskUserQuestion", "input": {"questions": []}}
    written(session_path(folder / "home"), claude_line(100), json.dumps(question).encode() + b"\n")
    expect(page.locator(f"#run-{SESSION}[data-status=waiting]")).to_have_count(1)
    assert page.evaluate("window.notified") == ["An agent waits for you: line 0 says helloWorld"]
    expect(visitor.open("/live").locator("li", has_text="waiting for you")).to_have_count(1)
