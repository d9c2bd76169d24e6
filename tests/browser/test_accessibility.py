"""Pages for people who hear them, or see little; and pages on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from accessibility import problems_of, unseen_focus
from archive_of_goldens import CLAUDE, PARENT
from golden_cases import CASES, name_of
from sample_archive import SAMPLE, sample_archive
from serving import Server, Visitor, serving, visiting
from stenograph import open_archive
from stenograph.bundle import BundleOptions, create_bundle

WANTED = ("claude_code/parity", "codex_rollout/parity", "codex_rollout/ask-user", "exchange/demo")
PLACES = (
    "/",
    "/?sort=cost&agent=claude",
    "/live",
    "/search?q=retry",
    "/search",
    "/stats",
    "/stats?by=tool",
    "/help",
    f"/runs/{SAMPLE}",
    f"/runs/{SAMPLE}?density=all",
    f"/runs/{SAMPLE}?types=tools",
    f"/runs/{SAMPLE}/tree",
    f"/runs/{SAMPLE}/changes",
    f"/runs/{SAMPLE}/explain",
    f"/runs/{SAMPLE}/find?q=delay",
    f"/runs/{SAMPLE}/raw/3",
    f"/diff?left={CLAUDE}&right={PARENT}",
    f"/runs/{CLAUDE}",
    f"/runs/{PARENT}",
    "/runs/0000-not-there",
    "/nothing",
)
OPEN = "for (const each of document.querySelectorAll('main details,.told,.marks')) each.open = true;"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample_archive(tmp_path_factory.mktemp("seen"), [case for case in CASES if name_of(case) in WANTED])


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    with serving(folder, "--no-sync") as server:
        yield server


def checked(visitor: Visitor, places: tuple[str, ...]) -> list[str]:
    """The problems of pages, everything on them unfolded."""
    found = []
    for place in places:
        page = visitor.context.new_page()
        page.goto(visitor.server.origin + place)
        page.evaluate(OPEN)
        found += [f"{place}: {problem}" for problem in problems_of(page)]
        page.close()
    return found


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 320), ("dark", 320)])
def test_every_page_is_accessible(browser: Browser, server: Server, scheme: str, width: int) -> None:
    """Names, landmarks, headings, lists, contrast, in both themes, on screens and phones."""
    with visiting(browser, server, viewport={"width": width, "height": 800}, color_scheme=scheme) as visitor:
        assert checked(visitor, PLACES) == []


def test_the_list_and_a_run_are_accessible(browser: Browser, server: Server) -> None:
    """The quick part of the same."""
    with visiting(browser, server, color_scheme="dark") as visitor:
        assert checked(visitor, ("/", f"/runs/{SAMPLE}")) == []


@pytest.mark.browser
def test_a_bundle_is_accessible(browser: Browser, folder: Path, tmp_path: Path) -> None:
    """Its transcript, logs and SQL."""
    with open_archive(folder / "archive") as archive, archive.run(SAMPLE) as run:
        bundle = create_bundle(tmp_path / "a.zip", run.events(), options=BundleOptions(environment=False))
    places = ("/bundle", "/bundle/logs", "/bundle/sql?sql=SELECT+*+FROM+entries", "/bundle/sql?sql=x")
    with serving(tmp_path, str(bundle)) as server:
        for scheme in ("light", "dark"):
            for width in (1280, 320):
                with visiting(
                    browser, server, viewport={"width": width, "height": 800}, color_scheme=scheme
                ) as visitor:
                    assert checked(visitor, places) == []
                    for place in places:
                        page = visitor.open(place)
                        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
                    assert visitor.complaints == []


@pytest.mark.browser
def test_focus_is_seen(browser: Browser, server: Server) -> None:
    """Whatever the Tab key reaches is framed."""
    with visiting(browser, server) as visitor:
        for place in ("/", f"/runs/{SAMPLE}", "/stats"):
            assert unseen_focus(visitor.open(place)) == [], place


@pytest.mark.browser
def test_every_page_prints(browser: Browser, server: Server) -> None:
    """On paper there is the content, all of it, light, and no navigation."""
    with visiting(browser, server, color_scheme="dark") as visitor:
        for place in PLACES:
            page = visitor.context.new_page()
            page.goto(visitor.server.origin + place)
            page.emulate_media(media="print")
            page.set_viewport_size({"width": 720, "height": 900})
            assert page.locator("main").is_visible(), place
            for selector in (".bar", ".switches", ".pager", ".foot", ".views"):
                assert not [each for each in page.locator(selector).all() if each.is_visible()], (place, selector)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), place
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == "rgb(255, 255, 255)", place
            drawn = page.locator(".unit").evaluate_all(
                "(all) => all.map((each) => getComputedStyle(each).contentVisibility)"
            )
            assert set(drawn) <= {"visible"}, place
            page.close()


@pytest.mark.browser
def test_the_list_has_room_for_its_columns(browser: Browser, server: Server) -> None:
    """At 1280 pixels nothing is cut: the cost is in sight."""
    with visiting(browser, server, viewport={"width": 1280, "height": 800}) as visitor:
        page = visitor.open("/")
        assert page.evaluate(
            "(() => { const each = document.querySelector('.table'); return each.scrollWidth <= each.clientWidth; })()"
        )
        box = page.locator("th", has_text="Cost").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 1280


@pytest.mark.browser
def test_marks_without_script(browser: Browser, server: Server) -> None:
    """A form; nothing else is needed."""
    with visiting(browser, server, java_script_enabled=False) as visitor:
        page = visitor.open(f"/runs/{SAMPLE}")
        page.locator(".marks summary").click()
        page.get_by_label("Name").fill("The <slow> client")
        page.get_by_label("Tags").fill("perf, later")
        page.get_by_label("starred").check()
        page.get_by_role("button", name="Keep").click()
        expect(page.locator("h1")).to_have_text(re.compile("^The <slow> client"))
        expect(page).to_have_url(f"{server.origin}/runs/{SAMPLE}")
        page.goto(f"{server.origin}/?tag=perf&starred=1")
        expect(page.locator("table.runs tbody tr")).to_have_count(1)
        assert visitor.complaints == []
    with visiting(browser, server) as visitor:
        page = visitor.open(f"/runs/{SAMPLE}")
        page.locator(".marks summary").click()
        page.get_by_label("Name").fill("")
        page.get_by_role("button", name="Keep").click()
        page.locator("h1", has_text="Requests get slower").wait_for()
        assert visitor.complaints == []


@pytest.mark.browser
def test_several_runs_are_downloaded(browser: Browser, server: Server) -> None:
    """Chosen in the list, without script."""
    with visiting(browser, server, java_script_enabled=False) as visitor:
        page = visitor.open("/")
        for box in page.locator("table.runs input").all()[:2]:
            box.check()
        with page.expect_download() as download:
            page.get_by_role("button", name="Download a zip").click()
        assert download.value.suggested_filename == "runs.zip"
