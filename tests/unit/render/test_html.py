"""How things look on a page, one by one."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import page_sample
from html_reading import Page
from stenograph.fold.actions import command_of
from stenograph.fold.explain import explain
from stenograph.fold.prices import Price, Prices
from stenograph.model import (
    AttachmentBlock,
    Event,
    LifecyclePayload,
    MessagePayload,
    Origin,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)
from stenograph.render.brief import figures_of, first_line
from stenograph.render.explanation import explanation_lines
from stenograph.render.figures import clock, day, tokens
from stenograph.render.first_pass import page_facts_of
from stenograph.render.html import html_fragment, html_page
from stenograph.render.html.ansi import Ansi
from stenograph.render.html.blocks import attachment, split_prose
from stenograph.render.html.diff import patch
from stenograph.render.html.highlight import Highlighter
from stenograph.render.html.output import folded, input_html
from stenograph.render.html.page import POLICY
from stenograph.render.html.prose import prose
from stenograph.render.html.script import SCRIPT
from stenograph.render.html.strip import MOST, Cell, strip
from stenograph.render.html.style import STYLE
from stenograph.render.tool_input import change_lines, is_patch, summary_of


def _event(kind: str, payload: Any, seq: int = 1, **more: Any) -> Event:
    fields = {"path": "", "iteration": 0, "timestamp": "2026-06-08T08:14:42.5Z", **more}
    return Event(seq=seq, run_id="r", type=kind, payload=payload, **fields)


def _said(role: str, *blocks: Any, **more: Any) -> Event:
    return _event(f"message.{role}", MessagePayload(role=role, blocks=blocks, **more))


def _text(words: str) -> TextBlock:
    return TextBlock(fidelity="router", text=words)


def _page(*events: Event, **options: bool) -> str:
    return "".join(html_page(lambda: events, **options))


def _main(*events: Event, **options: bool) -> str:
    return _page(*events, **options).partition("<main>")[2].partition("</main>")[0]


# The page


def test_the_head_tells_what_the_run_took() -> None:
    """Agent, model, folder, time, turns, calls, tokens and errors, each once."""
    page = _page(*page_sample.events())
    facts = dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd></div>", page))
    assert facts == {
        "Agent": "Claude Code",
        "Model": "claude-sonnet-4-5",
        "Folder": "/home/ada/http-client",
        "When": "2026-06-08 08:14 UTC",
        "Duration": "1 min 16 s",
        "Prompts": "2",
        "Messages": "8",
        "Tool calls": "6",
        "Failed calls": "1",
        "Subagents": "1",
        "Tokens": "62.4k in (55.4k cached), 1,952 out",
        "Errors": "2",
    }


def test_the_policy_allows_our_style_and_our_script_alone() -> None:
    """By their hashes, in the page, before anything of the transcript."""
    for content in (STYLE, SCRIPT):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in POLICY
    assert "unsafe" not in POLICY
    page = _page(_said("user", _text("hi")))
    assert page.index("Content-Security-Policy") < page.index("hi")
    assert f"<style>{STYLE}</style>" in page
    assert f"<script>{SCRIPT}</script>" in page


def test_the_page_names_nothing_outside_it() -> None:
    """No address in style, script or head; the only ones are those that the transcript says."""
    empty = _page()
    assert not re.search(r"https?:|//[a-z]+\.|url\(|@import", empty)
    assert Page(_page(*page_sample.events())).links[-1].startswith(("#", "https://www.rfc-editor.org"))


def test_the_title_is_the_first_prompt_on_one_line() -> None:
    """Cut where it is long; the run's name or id where nobody spoke."""
    long = "word " * 50
    assert page_facts_of([_said("user", _text(f"\n{long}"))]).title == ("word " * 18)[:-1][:89].rstrip() + "…"
    assert page_facts_of([_event("run.started", LifecyclePayload(name="nightly", kind="workflow"))]).title == "nightly"
    assert page_facts_of([_event("unknown", UnknownPayload(text="x"))]).title == "r"


def test_a_run_without_a_prompt_is_called_by_its_place() -> None:
    """Who worked where, and when: an id says nothing to people."""
    init = _event(
        "system.event", SystemPayload(subtype="init", data={"cwd": "/home/ada"}), origin=Origin(adapter="opencode")
    )
    assert page_facts_of([init]).title == "OpenCode in /home/ada, 2026-06-08 08:14 UTC"


def test_a_fragment_is_what_the_page_shows() -> None:
    """The same elements, without a page around them."""
    events = list(page_sample.events())
    assert html_fragment(events).strip() == _main(*events).strip()
    assert Page(html_fragment(events[1:2])).ids == ["unit-1", "seq-2"]


def test_further_runs_have_anchors_of_their_own() -> None:
    """And an event without a number of its own has none."""
    events = [
        Event(seq=seq, run_id=run, type="unknown", path="", iteration=0, timestamp="", payload=UnknownPayload(text="x"))
        for run, seq in [("a", 1), ("b", 1), ("a", 2), ("a", 2), ("a", 0)]
    ]
    assert [name for name in Page(_page(*events)).ids if "seq" in name] == ["seq-1", "run-2-seq-1", "seq-2"]


# Messages


def test_prompts_and_answers_are_markdown() -> None:
    """A prompt also as it was typed, where that looks different."""
    asked = _main(_said("user", _text("**hi**")))
    assert "<strong>hi</strong>" in asked
    assert (
        '<details class="raw"><summary>as typed</summary><div class="said" dir="auto">**hi**</div></details>' in asked
    )
    assert "as typed" not in _main(_said("user", _text("hi, there")))
    answered = _main(_said("assistant", _text("**hi**")))
    assert "<strong>hi</strong>" in answered
    assert "as typed" not in answered


def test_the_system_prompt_is_folded_and_told_once() -> None:
    """It is also the last text block of its message."""
    body = _main(_said("user", _text("Review it."), _text("Be careful."), system_prompt="Be careful."))
    assert body.count("Be careful.") == 1
    assert body.index("System prompt") < body.index("Be careful.") < body.index("Review it.")


def test_thinking_is_folded_with_its_beginning_and_its_length() -> None:
    """Closed until somebody opens it."""
    body = _main(_said("assistant", ThinkingBlock(fidelity="router", thinking="hm, <b>")))
    assert '<details class="think"><summary>Thinking <small>hm, &lt;b&gt; · 7 characters</small></summary>' in body
    assert ">hm, &lt;b&gt;</div>" in body


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg", "image/gif", "image/webp"])
def test_images_are_in_the_page(kind: str) -> None:
    """As data, with a text for who cannot see them."""
    block = AttachmentBlock(fidelity="router", media_type=kind, size=2, sha256="", data="aGk=")
    assert attachment(block) == f'<img alt="{kind}, 2 bytes" src="data:{kind};base64,aGk=">'


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("image/svg+xml", "aGk="),
        ("text/html", "aGk="),
        ("image/png", None),
        ("image/png", ""),
        ("image/png", 'aGk=" onerror="x'),
        ("image/png", "aGk=\n"),
        ("image/png;x", "aGk="),
        ("IMAGE/PNG", "aGk="),
    ],
)
def test_what_is_no_safe_image_is_named(kind: str, data: str | None) -> None:
    """An SVG is a program, and data that is not base64 is no image."""
    block = AttachmentBlock(fidelity="router", media_type=kind, size=2, sha256="", data=data)
    assert attachment(block) == f'<p class="empty">[{kind}, 2 bytes]</p>'


# Tools


def _tool(kind: str, given: Any = None, output: Any = None, name: str = "Bash", **more: Any) -> Event:
    payload = ToolPayload(name=name, call_id="c", input=given, output=output, fidelity="router", **more)
    return _event(kind, payload, 1 if kind == "tool.call" else 2)


def test_a_failed_call_is_open_and_says_so() -> None:
    """Its error and its output are both there, once when they are the same."""
    body = _main(_tool("tool.call", {"x": 1}), _tool("tool.result", output="no such file", error="no such file"))
    assert re.search(r'<details class="ev tool shell failed" id="seq-1" open>.*?<span class="no">failed</span>', body)
    assert body.count("no such file") == 1
    body = _main(_tool("tool.call", {"x": 1}), _tool("tool.result", output="partial", error="exit code 1"))
    assert body.index("exit code 1") < body.index("partial")


def test_calls_that_people_look_for_are_open() -> None:
    """Failures, changes and cards; a command or a file that was read is one line until it is asked for."""
    assert " open>" in _main(_tool("tool.call", {"file_path": "a", "content": "x"}, name="Write"))
    assert " open>" in _main(_tool("tool.call", {"plan": "now"}, name="ExitPlanMode"))
    assert " open>" not in _main(_tool("tool.call", {"command": "ls"}), _tool("tool.result", output="a"))
    assert " open>" not in _main(_tool("tool.call", {"file_path": "a"}, name="Read"))


def test_a_call_that_went_well_is_one_line() -> None:
    """Its command, the first line of its output, and how long it took, in the head; said once each."""
    body = _main(
        _tool("tool.call", {"command": "make"}),
        _tool("tool.result", output="\n\x1b[1mbuilt\x1b[0m\nok", duration_ms=700),
    )
    head = Page(re.search(r"<summary>(.*?)</summary>", body, re.DOTALL)[1]).text
    assert head == "Bashmakebuilt✓ 700 ms08:14:42"
    assert body.count("make") == 1


@pytest.mark.parametrize(
    ("name", "output", "says"),
    [
        ("exec_command", "Chunk ID: a\nWall time: 1 s\nProcess exited with code 0\nOutput:\nhello\n", "hello"),
        ("Read", "     1→a\n     2→b", "2 lines"),
        ("Grep", "<tool_use_error>none</tool_use_error>", "none"),
        ("Bash", {"a": 1}, '{ "a": 1 }'),
        ("Bash", None, ""),
    ],
)
def test_what_a_result_says_first(name: str, output: Any, says: str) -> None:
    """Without what agents wrap around it."""
    call, result = _tool("tool.call", {}, name=name), _tool("tool.result", output=output)
    assert first_line(call, result.payload) == says


def test_the_exit_code_stands_in_the_head() -> None:
    """Where it is not 0."""
    call = _tool("tool.call", {"command": "false"})
    result = _tool("tool.result", output="Exit code 3\nno", error="Exit code 3\nno", duration_ms=20)
    assert figures_of(call, result.payload) == "exit 3 · 20 ms"
    assert "exit 3" in _main(call, result)


def test_a_checklist_is_one() -> None:
    """What is done, what is being done, what is open; nothing of it is lost."""
    items = [
        {"content": "read", "status": "completed", "activeForm": "Reading"},
        {"content": "fix", "status": "in_progress", "activeForm": "Fixing", "priority": "high"},
        {"content": "test", "status": "pending", "activeForm": "Testing"},
    ]
    body = _main(_tool("tool.call", {"todos": items}, name="TodoWrite"))
    assert re.findall(r'<li class="(\w+)" title="\w+" dir="auto">(. \w+)</li>', body) == [
        ("done", "☑ read"),
        ("doing", "◐ fix"),
        ("open", "☐ test"),
    ]
    assert "high" in body


def test_a_subagent_says_what_it_cost() -> None:
    """Its own tokens and dollars, which are part of those of its unit."""
    origin = Origin(adapter="claude_code", source="subagent:a1", parent_source="main")
    usage = UsagePayload(scope="call", input_tokens=1_000_000, output_tokens=1000, model="m", message_id="a")
    events = [
        _said("user", _text("go")),
        replace(_said("user", _text("look there")), origin=origin),
        replace(_event("token.usage", usage), origin=origin),
        _event("token.usage", replace(usage, message_id="b", input_tokens=2_000_000)),
    ]
    numbered = [replace(event, seq=n) for n, event in enumerate(events, 1)]
    prices = Prices({"m": Price(input=1.0, output=0.0)}, "")
    page = "".join(html_page(lambda: numbered, prices=prices))
    assert "1.00M in, 1,000 out · $1.00" in re.findall(r'<details class="agent">.*?</summary>', page)[0]
    assert '<span class="cost">$3.00</span>' in page


def test_a_checklist_says_what_has_changed() -> None:
    """Against the one before of the same agent: what is new, and what had another state."""
    first = [{"content": "look", "status": "in_progress"}, {"content": "mend", "status": "pending"}]
    later = [{"content": "look", "status": "completed"}, {"content": "mend", "status": "pending"}]
    later.append({"content": "test", "status": "pending"})
    calls = [_tool("tool.call", {"todos": todos}, name="TodoWrite") for todos in (first, later)]
    lists = re.findall(r'<ul class="todo">.*?</ul>', _main(*calls))
    assert "change" not in lists[0]
    assert re.findall(r'(\w+) <small class="change">(.*?)</small>', lists[1]) == [
        ("look", "was in progress"),
        ("test", "new"),
    ]


def test_a_question_has_its_options_and_a_plan_is_markdown() -> None:
    """As the person saw them."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    asked = {"questions": [{"question": "Which?", "header": "Colour", "options": options, "multiSelect": False}]}
    read = Page(_main(_tool("tool.call", asked, name="AskUserQuestion"))).text
    for words in ("Colour", "Which?", "Red warm", "Blue cold", "multiSelect"):
        assert words in read
    assert "<strong>now</strong>" in _main(_tool("tool.call", {"plan": "1. **now**"}, name="ExitPlanMode"))


@pytest.mark.parametrize(
    ("output", "marked"),
    [
        ('User has answered your questions: "Which?"="Blue". Go on.', ["chosen: Blue cold"]),
        ('{"answers": {"0": ["Red", "Blue"]}}', ["chosen: Red warm", "chosen: Blue cold"]),
        ('"Which?"="Red, Blue"', ["chosen: Red warm", "chosen: Blue cold"]),
        ('"Which?"="green <b>"', ["chosen: green <b>"]),
        ("no answer", []),
    ],
)
def test_the_answer_that_was_chosen_is_marked(output: str, marked: list[str]) -> None:
    """In the question's card: an option, several, or what was typed."""
    options = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
    call = _tool("tool.call", {"questions": [{"question": "Which?", "options": options}]}, name="AskUserQuestion")
    body = _main(call, _tool("tool.result", output=output))
    found = re.findall(r'<(li|p) class="chosen"[^>]*>(.*?)</\1>', body)
    assert [Page(html).text.removeprefix("☑") for _, html in found] == marked


def test_a_wrapper_is_not_shown_as_output() -> None:
    """The output is what the tool gave; what the agent wrote around it is small print."""
    wrapped = "Chunk ID: ab\nWall time: 1 s\nProcess exited with code 3\nOutput:\noops\n"
    call = _tool("tool.call", {"cmd": "x"}, name="exec_command")
    result = _tool("tool.result", output=wrapped, error="exit code 3", name="")
    body = _main(*(replace(event, origin=Origin(adapter="codex_rollout")) for event in (call, result)))
    assert '<pre dir="auto">oops</pre><p class="args">Chunk ID: ab · Wall time: 1 s' in body
    assert "exit code 3" not in body


def test_the_page_begins_with_what_happened() -> None:
    """The lines of `steno explain`, folded, above the transcript."""
    events = list(page_sample.events())
    head = _page(*events).partition("<main>")[0]
    lines = "\n".join(explanation_lines(explain(events, None)))
    assert lines in Page(head.partition("</style>")[2].partition("<body>")[2] + "</div>").text
    assert "<summary>What happened <small>1 file changed, 2 errors</small></summary>" in head


def test_contents_say_errors_and_days() -> None:
    """Units with errors are marked, those of several days stand below their day."""
    day = "2026-06-0{}T08:00:00Z"
    failed = [_tool("tool.call", {}), _tool("tool.result", output="no", error="no")]
    events = [_said("user", _text("one")), *failed, _said("user", _text("two"))]
    dated = [replace(event, seq=n, timestamp=day.format(1 + n // 4)) for n, event in enumerate(events, 1)]
    head = _page(*dated).partition("<main>")[0]
    assert re.findall(r'<li class="(\w+)">', head) == ["day", "bad", "day"]
    assert 'id="only-errors"' in head
    assert "<rect" not in head
    more = [_said("user", _text("more"))] * 2
    longer = [replace(event, seq=n) for n, event in enumerate([*dated, *more], 1)]
    assert re.findall(r'<rect class="(\w+)"', _page(*longer)) == ["ask", "bad", "ask", "ask", "ask"]


def test_a_strip_puts_cells_together() -> None:
    """Many units are few cells, as wide as all together; a failure is never hidden by its neighbours."""
    cells = [Cell(weight=1, place=f"#unit-{n}", kind="bad" if n == 777 else "ask") for n in range(1000)]
    html = strip(cells)
    assert html.count("<a ") <= MOST
    assert html.count('class="bad"') == 1
    assert 'href="#unit-777"' in html
    ends = [float(x) + float(width) for x, width in re.findall(r'x="([\d.]+)" y="0" width="([\d.]+)"', html)]
    assert 995 <= max(ends) <= 1000.1
    assert strip(cells[:1]) == ""


def test_a_file_that_was_read_has_its_numbers_beside_it() -> None:
    """In a gutter of their own, so that copying takes the code alone; what stands around it stays."""
    call = _tool("tool.call", {"file_path": "a.py"}, name="Read")
    body = _main(call, _tool("tool.result", output="   7→def f():\n   8→    pass\n\n<note>"))
    assert '<pre class="gutter" dir="auto">7\n8</pre>' in body
    assert '<span class="t-k">def </span>' in body
    assert "→" not in Page(body).text
    assert "&lt;note&gt;" in body


def test_a_change_counts_its_lines_and_marks_its_words() -> None:
    """In the head, and in the lines."""
    given = {"file_path": "a.py", "old_string": "size = 10\nend", "new_string": "size = 20\nmore\nend"}
    body = _main(_tool("tool.call", given, name="Edit"))
    assert '<span class="plus">+2</span> <span class="minus">−1</span>' in body
    html = input_html({"file_path": "a.py", "old_string": "size = 10", "new_string": "size = 20"}, full=False)
    assert '<span class="del">-size = <b>10</b>\n</span><span class="add">+size = <b>20</b>\n</span>' in html


def test_a_patch_names_its_files_in_the_head_and_marks_its_words() -> None:
    """As an edit does."""
    words = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-size = 10\n+size = 20\n*** End Patch"
    call = _tool("tool.call", {"input": words}, name="apply_patch")
    body = _main(replace(call, origin=Origin(adapter="codex_rollout")))
    assert '<code dir="auto">src/a.py</code>' in body
    assert "-size = <b>10</b>" in body
    assert "+size = <b>20</b>" in body


def test_calls_that_were_made_together_say_so() -> None:
    """Before any of them was answered."""
    calls = [_event("tool.call", _payload(f"c{n}"), n) for n in (1, 2)]
    results = [_event("tool.result", _payload(f"c{n}"), n + 2) for n in (1, 2)]
    assert re.findall("∥ . of .", _main(*calls, *results)) == ["∥ 1 of 2", "∥ 2 of 2"]
    alone = [calls[0], replace(results[0], seq=2), replace(calls[1], seq=3), replace(results[1], seq=4)]
    assert "∥" not in _main(*alone)


def _payload(call_id: str) -> ToolPayload:
    return ToolPayload(name="Read", call_id=call_id, input={}, output="x", fidelity="router")


def test_machine_events_are_behind_one_switch() -> None:
    """Counted beside it, with names for people; what a reader must not miss is not among them."""
    noise = [_event("system.event", SystemPayload(subtype="attachment/deferred_tools_delta", data={"n": 1}), 1)]
    noise.append(_event("token.usage", UsagePayload(scope="call", input_tokens=5, output_tokens=1), 2))
    notice = _event("system.event", SystemPayload(subtype="permission_denied", text="rm is not allowed"), 3)
    page = _page(*noise, notice, _event("unknown", UnknownPayload(text="what is this"), 4))
    assert '<input id="noise" type="checkbox" autocomplete="off"> Show 2 machine events' in page
    asides = re.findall(r'<details class="asides"><summary>(.*?)</summary>', page)
    assert asides == ["Attachment deferred tools delta, 5 tokens in, 1 out"]
    assert 'class="notice"><summary>Permission denied <small>rm is not allowed</small>' in page
    assert 'class="notice"><summary>Unknown <small>what is this</small>' in page


def test_a_unit_says_what_it_took_and_what_it_cost() -> None:
    """Time, calls, tokens, dollars, and the pause before it."""
    prices = Prices({"m": Price(input=10, output=100)}, "2026-01-01")
    usage = UsagePayload(scope="call", input_tokens=100_000, output_tokens=1_000, model="m", message_id="1")
    events = [
        _said("user", _text("one")),
        _event("token.usage", usage, 2, timestamp="2026-06-08T08:15:00Z"),
        _event(
            "message.user", MessagePayload(role="user", blocks=(_text("two"),)), 3, timestamp="2026-06-08T09:15:00Z"
        ),
    ]
    page = "".join(html_page(lambda: events, prices=prices))
    assert '<span class="cost">$1.10</span>' in page
    assert '<span class="idle">1 h 0 min later</span>' in page
    assert "<dt>Cost</dt><dd>$1.10</dd>" in page
    assert "<small>18 s · $1.10</small>" in page


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_long_prose_is_folded(role: str) -> None:
    """After its first paragraphs, with how much is left; nothing is lost, and a fence is never cut."""
    words = "\n\n".join(f"Paragraph {n}.\n\n```\ncode {n}\n\nmore\n```" for n in range(40))
    body = _main(_said(role, _text(words)))
    found = re.search(r'<details class="more long"><summary>(.*?)</summary>', body)
    assert re.fullmatch(r"\d+ more lines, [\d,]+ characters", found[1])
    assert body.count('<div class="code">') == 40
    assert "more long" not in _main(_said(role, _text(words)), full=True)
    assert "more long" not in _main(_said(role, _text("short")))


@given(st.lists(st.sampled_from(["a", "", "```", "- x", "  y", "z" * 500]), max_size=90).map("\n".join))
def test_a_cut_text_is_the_text(words: str) -> None:
    """Wherever it is cut."""
    assert "".join(split_prose(words)) == words


def test_a_call_without_a_result_says_so_and_an_empty_result_too() -> None:
    """Nobody has to guess whether something is missing."""
    assert "no result" in _main(_tool("tool.call", {}))
    assert "no output" in _main(_tool("tool.call", {}), _tool("tool.result", output=""))


def test_media_of_a_result_is_shown() -> None:
    """A screenshot that a tool took."""
    block = AttachmentBlock(fidelity="router", media_type="image/png", size=2, sha256="", data="aGk=")
    body = _main(_tool("tool.call", {}), _tool("tool.result", output="taken", blocks=(block, _text("taken"))))
    assert '<img alt="image/png, 2 bytes"' in body
    assert body.count(">taken</pre>") == 1


@pytest.mark.parametrize(
    ("given", "summary"),
    [
        ({"command": "ls -la", "description": "List"}, "ls -la"),
        ({"command": ["bash", "-lc", "make"]}, "make"),
        ({"cmd": ["git", "log"]}, "git log"),
        ({"pattern": "x", "path": "src"}, "x"),
        ({"file_path": "a.py", "old_string": "b"}, "a.py"),
        ({"n": 1}, ""),
        ("SELECT\n 1", "SELECT 1"),
        ([1], ""),
        ({"url": "u" * 200}, "u" * 119 + "…"),
    ],
)
def test_a_call_is_summed_up_by_its_telling_argument(given: Any, summary: str) -> None:
    """On one line."""
    assert summary_of(given) == summary


def test_words_that_say_more_than_the_line_stay() -> None:
    """`bash -lc` is not lost where the script is shown."""
    assert command_of(["bash", "-lc", "make"]) == "make"
    shown = Page(input_html({"command": ["bash", "-lc", "make"]}, full=False)).text
    assert "bash" in shown
    assert Page(input_html({"command": "make all"}, full=False)).text == "make all"


def test_changes_are_diffs() -> None:
    """What stays, what goes, what comes; the other arguments beside it."""
    html = input_html({"path": "a.py", "old_str": "one\ntwo\n", "new_str": "one\n2\n"}, full=False)
    assert '<span class="same"> one\n</span><span class="del">-two\n</span><span class="add">+2\n</span>' in html
    assert "a.py" in html
    assert change_lines("", "x\n") == ["+x"]
    assert change_lines("x", "") == ["-x"]
    many = "\n".join(map(str, range(300)))
    assert len(change_lines(many, many + "\nx")) == 601  # too many to match, so all are shown as replaced


def test_several_changes_in_one_call() -> None:
    """Each edit of a list is a diff."""
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    assert input_html({"file_path": "x", "edits": edits}, full=False).count('<pre class="diff"') == 2


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("*** Begin Patch\n", True),
        ("diff --git a/x b/x\n", True),
        ("--- a\n+++ b\n", True),
        ("text\n@@ -1,2 +1 @@\n", True),
        ("- item\n+ item\n", False),
        ("--- a horizontal rule", False),
        ("x" * 3000 + "\n@@ -1", False),
    ],
)
def test_patches_are_known_by_their_beginning(value: str, answer: bool) -> None:
    """A list of items is none."""
    assert is_patch(value) is answer


def test_lines_of_a_patch_by_what_they_do() -> None:
    """Heads, additions and removals."""
    html = patch("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z")
    assert re.findall(r'class="(\w+)">', html) == ["hunk", "del", "add", "same"]
    assert '<span class="hunk">--- a\n+++ b\n@@ -1 +1 @@\n</span>' in html


@pytest.mark.parametrize(
    ("lines", "hidden"),
    [(12, None), (19, None), (21, "9 more lines, 71 characters"), (500, "488 more lines, 4,303 characters")],
)
def test_long_outputs_are_folded(lines: int, hidden: str | None) -> None:
    """With how much is hidden; a few lines more are not worth a fold."""
    html = folded("\n".join(f"line {number}" for number in range(lines)), full=False)
    found = re.search(r"<summary>([^<]+)</summary>", html)
    assert (found[1] if found else None) == hidden
    assert "<details" not in folded("\n".join(map(str, range(lines))), full=True)


def test_one_long_line_is_folded_by_its_characters() -> None:
    """An output need not have lines."""
    html = folded("x" * 100_000, full=False)
    assert "1 more line, 96 thousand characters" in html
    assert Page(html).text.count("x") == 100_000


# Terminal colours


@pytest.mark.parametrize(
    ("codes", "classes"),
    [
        ("31", "ink1"),
        ("1;91", "ink9 bold"),
        ("42", "ground2"),
        ("107", "ground15"),
        ("38;5;9", "ink9"),
        ("38;5;196", "ink1"),
        ("38;5;255", "ink15"),
        ("48;2;250;250;90", "ground11"),
        ("38:2:0:170:0", "ink2"),
        ("3;4;7;9", "inverse italic strike under"),
        ("", None),
        ("0", None),
        ("39;49", None),
        ("38;9;1", "bold"),
        ("999999999999", None),
    ],
)
def test_colours_are_classes(codes: str, classes: str | None) -> None:
    """One of a few, whatever the codes say."""
    html = Ansi().html(f"\x1b[{codes}mx")
    assert html == (f'<span class="{classes}">x</span>' if classes else "x")


def test_styles_end() -> None:
    """Each by its own code, all by zero."""
    assert Ansi().html("\x1b[1;31ma\x1b[22mb\x1b[39mc\x1b[4md\x1b[me") == (
        '<span class="ink1 bold">a</span><span class="ink1">b</span>c<span class="under">d</span>e'
    )


def test_other_escapes_are_shown() -> None:
    """Moving, erasing, titles and links are no colours."""
    assert Ansi().html("\x1b[2J\x1b]0;t\x07x\x9b31m") == "␛[2J␛]0;t␇x\\x9b31m"


# Prose


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("a *b* c", '<p dir="auto">a <em>b</em> c</p>'),
        ("**a** ~~b~~", '<p dir="auto"><strong>a</strong> <s>b</s></p>'),
        ("*.py and *.js", '<p dir="auto">*.py and *.js</p>'),
        ("2 * 3 * 4", '<p dir="auto">2 * 3 * 4</p>'),
        ("snake_case_name", '<p dir="auto">snake_case_name</p>'),
        ("`a*b*c`", '<p dir="auto"><code>a*b*c</code></p>'),
        ("`` a`b ``", '<p dir="auto"><code>a`b</code></p>'),
        ("`open", '<p dir="auto">`open</p>'),
        ("\\*a\\*", '<p dir="auto">*a*</p>'),
        ("# A\ntext", '<h3 dir="auto">A</h3><p dir="auto">text</p>'),
        ("###### A", '<h6 dir="auto">A</h6>'),
        ("- a\n- b", '<ul><li dir="auto">a</li><li dir="auto">b</li></ul>'),
        ("- a\n  - b\n- c", '<ul><li dir="auto">a<ul><li dir="auto">b</li></ul></li><li dir="auto">c</li></ul>'),
        ("3. a\n4. b", '<ol start="3"><li dir="auto">a</li><li dir="auto">b</li></ol>'),
        ("> a\n> b", '<blockquote><p dir="auto">a\nb</p></blockquote>'),
        ("---", "<hr>"),
        ("```py\n<x>\n```\nb", '<div class="code"><span class="lang">py</span><pre dir="auto">&lt;x&gt;</pre></div>'),
        ("```\nnever closed", '<div class="code"><pre dir="auto">never closed</pre></div>'),
        ("see https://a.example/x.", '<a href="https://a.example/x" rel="noopener noreferrer nofollow">'),
        ("[a](https://a.example)", '<a href="https://a.example" rel="noopener noreferrer nofollow">a</a>'),
        ("[a](javascript:x)", '<p dir="auto">[a](javascript:x)</p>'),
        ("[a](//a.example)", '<p dir="auto">[a](//a.example)</p>'),
        ("[a](https://a.example/‮x)", "[a]("),
        ("<b>", '<p dir="auto">&lt;b&gt;</p>'),
    ],
)
def test_markdown_of_agents(markdown: str, html: str) -> None:
    """What they write most, and what only looks like it."""
    assert html in prose(markdown)


def test_tables() -> None:
    """With inline marks in their cells, bars that are escaped, and alignment by class: the policy forbids styles."""
    html = prose("| a | b |\n|---|--:|\n| **x** | p \\| q |\n\nafter")
    assert '<th dir="auto">a</th><th class="right" dir="auto">b</th>' in html
    assert '<td dir="auto"><strong>x</strong></td><td class="right" dir="auto">p | q</td>' in html
    assert html.endswith('<p dir="auto">after</p>')
    assert "style" not in html


def test_a_cell_too_many_is_not_dropped() -> None:
    """CommonMark's tables drop it; then the source is shown."""
    html = prose("| a | b |\n|---|---|\n| 1 | 2 | lost |\n\nafter")
    assert "<table" not in html
    assert "| 1 | 2 | lost |" in html
    assert html.endswith('<p dir="auto">after</p>')


def test_lists_hold_code_and_keep_their_numbers() -> None:
    """A fence inside an item is code, and an item has the number that was written."""
    html = prose("1. run\n\n   ```sh\n   ls | wc\n   ```\n5. then _look_")
    assert '<ol><li dir="auto"><p dir="auto">run</p><div class="code"><span class="lang">sh</span>' in html
    assert '<li value="5" dir="auto"><p dir="auto">then <em>look</em></p></li></ol>' in html


@pytest.mark.parametrize(
    "words", ["[a]: https://a.example/x 'title'", "&lt; and &#x202e;", "![a](https://a.example/x.png)", "<!-- note -->"]
)
def test_what_markdown_hides_is_shown(words: str) -> None:
    """Definitions, entities, images and comments are text of the transcript, too."""
    read = Page(prose(words))
    assert all(each in read.text or any(each in link for link in read.links) for each in re.findall(r"\w+", words))
    assert "img" not in read.tags


def test_a_drawing_stays_as_it_was_typed() -> None:
    """Code without a fence and trees of files mean nothing without their spaces."""
    tree = "src/\n├── a.py\n│   b.py"
    code = "if x:\n    y()"
    html = prose(f"See **this**:\n\n{tree}\n\n{code}\n\nend")
    assert html.count("<pre") == 2
    assert tree in html
    assert code in html
    assert prose(code) == f'<pre dir="auto">{code}</pre>'


def test_a_text_that_is_too_long_to_be_prose_is_shown_as_typed() -> None:
    """Nothing is parsed of it, and nothing is lost."""
    assert Page(prose("**a** " * 40_000)).text == "**a** " * 40_000


# Code in colours


def test_code_is_coloured_by_its_fence() -> None:
    """Tokens are a few classes of ours; an unknown language stays plain."""
    html = prose("```python\ndef f(): return 'x' # hm\n```")
    assert '<span class="t-k">def </span><span class="t-f">f</span>' in html
    assert '<span class="t-c"># hm</span>' in html
    assert "t-" not in prose("```whatever\ndef f(): return 1\n```")


@pytest.mark.parametrize("path", ["a/b.py", "C:\\x\\b.PY"])
def test_code_is_coloured_by_its_file(path: str) -> None:
    """By the ending of its name."""
    assert "t-k" in Highlighter().html("def f(): pass", path=path)
    assert "t-k" not in Highlighter().html("def f(): pass", path="py/notes.unknown")


def test_colouring_is_bounded() -> None:
    """A block that is too long, a line that is too long and a page that has enough stay plain, and whole."""
    code = "x = 1\n" * 1000
    highlighter = Highlighter(budget=len(code))
    for wanted, text in [(False, "x = 1\n" * 9000), (False, "x = " + "1" * 2000), (True, code), (False, "x = 1")]:
        html = highlighter.html(text, language="py")
        assert ("t-n" in html) is wanted
        assert Page(html).text == text


# Times


def test_times_are_those_of_the_events() -> None:
    """A timestamp in another form is shown as it is."""
    assert clock("2026-06-08T08:14:42.123456Z") == "08:14:42"
    assert clock("yesterday") == "yesterday"
    assert day("2026-06-08T08:14:42+02:00") == "2026-06-08 08:14 +02:00"
    assert day("yesterday") == "yesterday"
    assert tokens(page_facts_of([]).totals.tokens) == ""


def test_steps_and_the_runs_they_call_are_lines() -> None:
    """With their turn, their path and their error."""
    begun = LifecyclePayload(name="fix", kind="agent")
    ended = LifecyclePayload(name="fix", kind="agent", error="gave up", result={"tries": 3})
    body = _main(
        _event("step.started", begun, path="review.fix", iteration=2, child_run_id="child-1"),
        _event("step.completed", ended, 2, path="review.fix", iteration=2),
    )
    read = Page(body).text
    for words in ("▸ fix #2", "review.fix", "calls run child-1", "✗ fix #2", "gave up", '"tries": 3'):
        assert words in read


def test_what_another_source_says_names_it() -> None:
    """A subagent's prompt is a task, below its name."""
    origin = Origin(source="subagent:a1", parent_source="main")
    body = _main(
        _said("user", _text("hi")), _event("message.user", MessagePayload(role="user", blocks=()), 2, origin=origin)
    )
    assert "Subagent <bdi>a1</bdi>" in body


def test_a_subagent_is_called_by_its_task() -> None:
    """The description and the type that its call gave, else the beginning of its prompt; its id is small print."""
    origin = Origin(source="subagent:a1", parent_source="main", parent_call_id="c")
    call = _tool("tool.call", {"description": "Count files", "subagent_type": "Explore", "prompt": "Go"}, name="Task")
    asked = _event("message.user", MessagePayload(role="user", blocks=(_text("Go and count"),)), 2, origin=origin)
    assert "Subagent <bdi>Count files (Explore)</bdi></span><small>0 tool calls · 0 ms · <bdi>a1</bdi>" in _main(
        call, asked
    )
    alone = replace(asked, origin=Origin(source="subagent:a1", parent_source="main"))
    assert "Subagent <bdi>Go and count</bdi>" in _main(alone)
