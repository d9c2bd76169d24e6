"""The page, as somebody who was sent it uses it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

import page_sample as sample
from stenograph.model import Event, MessagePayload, TextBlock, ToolPayload

Open = Callable[..., object]


def test_it_reads_from_top_to_bottom(open_page: Open) -> None:
    """Prompts, answers, commands, changes and failures are there without a click, thinking and noise are folded."""
    seen = open_page(sample.events())
    page = seen.page
    expect(page.get_by_role("heading", level=1)).to_contain_text("Requests get slower")
    for words in ("30 seconds", "pytest -q tests/test_client.py", "self.delay = FIRST", "Overloaded"):
        expect(page.locator("main").get_by_text(words).first).to_be_visible()
    expect(page.locator(".think .said")).to_be_hidden()
    expect(page.locator(".asides").first).to_be_hidden()
    expect(page.locator("table td")).to_have_count(6)
    assert page.locator("img").evaluate("each => each.naturalWidth") == 320
    seen.assert_quiet()


def test_results_and_subagents_stand_below_their_call(open_page: Open) -> None:
    """The subagent's own call and result are inside the call that spawned it."""
    page = open_page(sample.events()).page
    task = page.locator("details.tool", has=page.locator("summary b", has_text="Task")).first
    expect(task.locator("details.agent details.tool .res")).to_have_count(1)
    expect(task.locator(":scope > .body > .res")).to_contain_text("60 modules")


def test_diffs_and_colours_look_like_it(open_page: Open) -> None:
    """An added line and a red word have another look than the lines beside them."""
    page = open_page(sample.events()).page
    color = "each => getComputedStyle(each).backgroundColor"
    added, same = page.locator(".diff .add").first, page.locator(".diff .same").first
    assert added.evaluate(color) != same.evaluate(color)
    red = page.locator(".ink1", has_text="1 failed")
    assert red.evaluate("each => getComputedStyle(each).color") == "rgb(180, 35, 24)"
    assert "\x1b" not in page.content()


def test_folds_open_and_close(open_page: Open) -> None:
    """By a click on one, and all of them by three densities."""
    page = open_page(sample.events()).page
    thinking = page.locator(".think .said")
    page.locator("details.think > summary").first.click()
    expect(thinking).to_be_visible()
    page.locator("details.think > summary").first.click()
    expect(thinking).to_be_hidden()
    page.get_by_role("button", name="All", exact=True).click()
    expect(page.locator("main details:not([open])")).to_have_count(0)
    expect(page.locator(".asides").first).to_be_visible()
    page.get_by_role("button", name="Brief").click()
    expect(page.locator("main details[open]")).to_have_count(0)
    page.get_by_role("button", name="Normal").click()
    expect(page.locator(".tool.failed .res")).to_be_visible()
    expect(page.locator(".asides").first).to_be_hidden()
    expect(page.locator("main details[open]").first).to_be_attached()


@pytest.mark.parametrize("script", [True, False])
def test_machine_events_are_behind_one_switch(open_page: Open, script: bool) -> None:
    """Also without scripts; a link to one shows it."""
    events = list(sample.events())
    page = open_page(events, java_script_enabled=script).page
    expect(page.locator(".asides").first).to_be_hidden()
    page.get_by_label("Show 4 machine events").check()
    expect(page.locator(".asides").first).to_be_visible()
    page = open_page(events, anchor="seq-1", java_script_enabled=script).page
    expect(page.locator("#seq-1")).to_be_visible()


def test_a_call_is_one_line(open_page: Open) -> None:
    """The command, what it gave first and how long it took stand beside each other, as high as one line."""
    page = open_page(sample.events()).page
    head = page.locator(".tool.search > summary").first
    expect(head).to_contain_text("self\\.delay")
    expect(head).to_contain_text("src/client/http.py:41")
    expect(head).to_contain_text("✓ 180 ms")
    assert head.bounding_box()["height"] < 45


def test_times_are_local(open_page: Open) -> None:
    """As the reader's clock says it; the moment as it was told stays in the hint."""
    page = open_page(sample.events(), timezone_id="Asia/Tokyo").page
    at = page.locator("#seq-2 a.at")
    expect(at).to_have_text("17:14:03")
    assert "2026-06-08T08:14:03" in at.get_attribute("title")


def test_a_copy_button_takes_what_is_under_the_mouse(open_page: Open) -> None:
    """A prompt as it was typed, an output without its colours."""
    seen = open_page(sample.events(), permissions=["clipboard-read", "clipboard-write"])
    page = seen.page
    page.locator(".tool.failed .res pre").last.hover()
    page.locator("#copy").click()
    seen.wait_for_words("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "1 failed, 2 passed in 0.31s" in copied
    seen.assert_quiet()


def test_line_numbers_are_not_copied(open_page: Open) -> None:
    """A selection over a file that was read holds the code alone."""
    call = ToolPayload(name="Read", call_id="r", input={"file_path": "a.py"}, output=None, fidelity="router")
    result = ToolPayload(name="", call_id="r", input=None, output="  7→def f():\n  8→    pass", fidelity="router")
    page = open_page([_event("tool.call", call), _event("tool.result", result)]).page
    page.locator("details.tool > summary").click()
    taken = """() => {
      getSelection().selectAllChildren(document.querySelector('.file'));
      return getSelection().toString();
    }"""
    assert page.evaluate(taken).strip() == "def f():\n    pass"


NOW = "document.querySelector('.now')?.id"


def test_keys(open_page: Open) -> None:
    """Each goes where it says, opens what it must, and none of them while somebody types."""
    seen = open_page(sample.events(), permissions=["clipboard-read", "clipboard-write"])
    page = seen.page
    press = page.keyboard.press
    ids = {}
    for key in ("e", "E", "J", "J", "K", "c", "j", "k"):
        press(key)
        ids.setdefault(key, []).append(page.evaluate(NOW))
    failed = page.locator(".tool.failed").get_attribute("id")
    prompts = [each.get_attribute("id") for each in page.locator(".unit > .user").all()]
    assert ids["e"] == [failed]
    assert ids["J"] == [prompts[1], prompts[1]]  # after the failed call; there is no third
    assert ids["K"] == [prompts[0]]
    assert ids["c"] == [page.locator(".tool.edit").first.get_attribute("id")]
    assert ids["k"] == ids["c"]
    press("o")
    assert page.locator(f"#{ids['c'][0]}").get_attribute("open") is None
    press("t")
    expect(page.locator(".think:not([open])")).to_have_count(0)
    press("3")
    expect(page.locator(".asides").first).to_be_visible()
    press("a")
    expect(page.locator(".asides").first).to_be_hidden()
    press("y")
    seen.wait_for_words("Link copied")
    assert page.evaluate("navigator.clipboard.readText()").endswith(f"#{ids['c'][0]}")
    press("Shift+G")
    assert page.evaluate("scrollY") > 0
    press("g")
    press("g")
    assert page.evaluate("scrollY") == 0
    press("?")
    expect(page.locator("#help")).to_be_visible()
    press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    press("/")
    page.keyboard.type("jitter")
    assert page.locator("#search").input_value() == "jitter"
    seen.assert_quiet()


def test_the_way_to_the_errors(open_page: Open) -> None:
    """A link in the head, which also works without scripts, and a button that goes from one to the next."""
    page = open_page(sample.events()).page
    page.get_by_role("link", name="Go to the first error").click()
    expect(page.locator(".tool.failed")).to_be_in_viewport()
    page.get_by_role("button", name="Next error").click()
    expect(page.locator(".error")).to_be_in_viewport()


def test_a_long_output_says_how_much_it_hides(open_page: Open) -> None:
    """60 lines: the first are shown, the fold names the number of the others and holds them."""
    page = open_page(sample.events()).page
    page.locator("details.agent > summary").click()
    page.locator("details.agent details.tool > summary").click()
    fold = page.locator("details.more > summary", has_text="48 more lines")
    expect(page.get_by_text("module_60")).to_be_hidden()
    expect(page.get_by_text("module_02")).to_be_visible()
    fold.click()
    expect(page.get_by_text("module_60")).to_be_visible()


def test_search_finds_what_is_folded(open_page: Open) -> None:
    """The count is told, the fold opens, Enter goes on, and what is not there is not found."""
    page = open_page(sample.events()).page
    page.keyboard.press("/")
    page.keyboard.type("MODULE_60")
    expect(page.locator("#count")).to_have_text("1 of 1")
    expect(page.get_by_text("module_60")).to_be_visible()
    page.locator("#search").fill("client.send")
    expect(page.locator("#count")).to_have_text("1 of 5")
    page.locator("#search").press("Enter")
    expect(page.locator("#count")).to_have_text("2 of 5")
    page.locator("#search").press("Shift+Enter")
    expect(page.locator("#count")).to_have_text("1 of 5")
    page.locator("#search").fill("nowhere to be found")
    expect(page.locator("#count")).to_have_text("not found")
    page.locator("#search").press("Escape")
    expect(page.locator("#count")).to_have_text("")


@pytest.mark.browser
def test_search_lands_on_the_hit(open_page: Open) -> None:
    """Every one of fifty hits is in sight, in long outputs, in folds and in units that were never drawn before."""
    outputs = ["\n".join(f"line {n} of {turn}" + " needle" * (n % 97 == 0) for n in range(500)) for turn in range(9)]
    events = [*sample.events(), *(each for words in outputs for each in [*_asked(f"again {words[-1]}"), *_ran(words)])]
    page = open_page(events).page
    page.locator("#search").fill("needle")
    expect(page.locator("#count")).to_have_text("1 of 54")
    for number in range(1, 51):
        expect(page.locator("#count")).to_have_text(f"{number} of 54")
        place = page.evaluate(_SETTLED)
        assert 0 <= place["top"] < place["bottom"] <= 900, number
        page.locator("#search").press("Enter")


_SETTLED = """async () => {
  const [hit] = CSS.highlights.get('current'), frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let i = 0; i < 12; i++) await frame();
  const { top, bottom } = hit.getBoundingClientRect();
  return { top, bottom };
}"""


def _asked(words: str) -> list[Event]:
    blocks = (TextBlock(fidelity="router", text=words),)
    return [_event("message.user", MessagePayload(role="user", blocks=blocks))]


def _ran(output: str) -> list[Event]:
    call = ToolPayload(name="Bash", call_id=output, input={"command": "x"}, output=None, fidelity="router")
    result = ToolPayload(name="", call_id=output, input=None, output=output, fidelity="router")
    return [_event("tool.call", call), _event("tool.result", result)]


def test_units_out_of_sight_are_not_drawn(open_page: Open) -> None:
    """The browser skips them until they come near; on paper they are all there."""
    page = open_page(sample.events()).page
    drawn = "each => getComputedStyle(each).contentVisibility"
    assert page.locator(".unit").first.evaluate(drawn) == "auto"
    page.emulate_media(media="print")
    assert page.locator(".unit").first.evaluate(drawn) == "visible"


def test_enter_does_not_wait_for_the_search(open_page: Open) -> None:
    """Who types and hits Enter at once gets the first place of what was typed, not of what was sought before."""
    page = open_page(sample.events()).page
    typed = """(words) => {
      const box = document.getElementById('search');
      box.value = words;
      box.dispatchEvent(new Event('input'));
      box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
      return document.getElementById('count').textContent;
    }"""
    assert page.evaluate(typed, "client.send") == "1 of 5"
    assert page.evaluate(typed, "module_60") == "1 of 1"


@pytest.mark.parametrize("script", [True, False])
def test_a_permalink_opens_what_it_leads_to(open_page: Open, script: bool) -> None:
    """Also an event inside a folded subagent, and also without scripts: browsers open folds for a link."""
    events = list(sample.events())
    nested = next(event.seq for event in events if event.source != "main" and event.type == "tool.result")
    page = open_page(events, anchor=f"seq-{nested}", java_script_enabled=script).page
    expect(page.locator(f"#seq-{nested}")).to_be_visible()
    expect(page.locator(f"#seq-{nested}")).to_be_in_viewport()


def test_every_event_has_a_permalink(open_page: Open) -> None:
    """`#seq-1` to the last, each once; a click puts it into the address and says that it was copied."""
    events = list(sample.events())
    seen = open_page(events, permissions=["clipboard-read", "clipboard-write"])
    page = seen.page
    for event in events:
        expect(page.locator(f"#seq-{event.seq}")).to_have_count(1)
    page.locator("#seq-2 a.at").click()
    expect(page).to_have_url(re.compile("#seq-2$"))
    seen.wait_for_words("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_contents_lead_to_the_units(open_page: Open) -> None:
    """One line per unit, with what it took."""
    page = open_page(sample.events()).page
    links = page.locator(".toc a")
    expect(links).to_have_count(3)
    links.nth(2).click()
    expect(page.locator("#unit-2 .user")).to_be_in_viewport()


def test_dark_and_light(open_page: Open) -> None:
    """By what the reader's system says, and by the button against it; it is kept for the next time."""
    page = open_page(sample.events(), color_scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(22, 23, 26)"
    page.get_by_role("button", name="Light / dark").click()
    assert page.evaluate(ground) == "rgb(251, 250, 247)"
    page.reload()
    assert page.evaluate(ground) == "rgb(251, 250, 247)"


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_never_scrolls_sideways(open_page: Open, width: int) -> None:
    """Whatever is unbreakable: a long word, a wide table, a deep path, an output without a space."""
    wide = "x" * 900
    table = "| a | b |\n|---|---|\n| " + " | ".join(["wide-cell-" * 6] * 9) + " |"
    events = [*sample.events(), *_said(f"{wide}\n\n{table}\n\n```\n{wide}\n```"), *_called(wide)]
    page = open_page(events, viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="All", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def _said(words: str) -> list[Event]:
    blocks = (TextBlock(fidelity="router", text=words),)
    return [_event("message.assistant", MessagePayload(role="assistant", blocks=blocks))]


def _called(words: str) -> list[Event]:
    call = ToolPayload(name=words, call_id="w", input={words: words, "path": words}, output=None, fidelity="router")
    result = ToolPayload(name="", call_id="w", input=None, output=words, error=words, fidelity="router")
    return [_event("tool.call", call), _event("tool.result", result)]


def _event(kind: str, payload: object) -> Event:
    return Event(seq=0, run_id=sample.RUN_ID, type=kind, path="", iteration=0, timestamp="", payload=payload)


def test_on_paper_there_are_no_buttons(open_page: Open) -> None:
    """Printed in the dark it is black on white, without what can only be clicked."""
    page = open_page(sample.events(), color_scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator("#tools")).to_be_hidden()
    expect(page.locator(".toc")).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(35, 33, 29)"
    assert page.pdf().startswith(b"%PDF")


def test_on_paper_everything_shrinks_together(open_page: Open) -> None:
    """What was said is as much smaller as what stands around it."""
    page = open_page(sample.events()).page
    size = "each => parseFloat(getComputedStyle(document.querySelector(each)).fontSize)"
    sizes = f"['.bot .md', '.tool > summary'].map({size})"
    said, tool = page.evaluate(sizes)
    page.emulate_media(media="print")
    said_on_paper, tool_on_paper = page.evaluate(sizes)
    assert said_on_paper < said
    assert said_on_paper / said == pytest.approx(tool_on_paper / tool)


def test_contents_can_be_filtered(open_page: Open) -> None:
    """By words, and without a script to those with errors; the strip leads to a unit."""
    events = [each for number in range(9) for each in _asked(f"question {number}")]
    page = open_page([*sample.events(), *events]).page
    entries = page.locator(".toc li:not(.day)")
    page.locator("#sift").fill("question 3")
    expect(entries.locator("visible=true")).to_have_count(1)
    page.locator("#sift").fill("")
    page.locator("#only-errors").check()
    assert [
        each.inner_text() for each in entries.locator("visible=true").all() if "error" not in each.inner_text()
    ] == []
    page.locator(".strip a").last.click(force=True)
    expect(page).to_have_url(re.compile("#unit-11$"))


def test_it_reads_without_scripts(open_page: Open) -> None:
    """The text is there and folds; what needs a script is not shown."""
    page = open_page(sample.events(), java_script_enabled=False).page
    expect(page.locator("main").get_by_text("Overloaded")).to_be_visible()
    expect(page.locator("#tools")).to_be_hidden()
    page.locator("details.think > summary").first.click()
    expect(page.locator(".think .said")).to_be_visible()


def test_an_empty_run_is_a_page(open_page: Open) -> None:
    """It says that nothing was recorded."""
    seen = open_page([])
    expect(seen.page.get_by_text("Nothing was recorded")).to_be_visible()
    seen.assert_quiet()
