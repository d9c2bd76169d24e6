"""A page of any run: nothing gets out of its place, and nothing is lost."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from html_reading import Page
from stenograph.model import (
    Event,
    MessagePayload,
    Origin,
    SystemPayload,
    TextBlock,
    ThinkingBlock,
    ToolPayload,
    ToolUseBlock,
)
from stenograph.render.control_chars import visible
from stenograph.render.first_pass import page_facts_of
from stenograph.render.html import html_page
from stenograph.render.html.ansi import Ansi
from stenograph.render.html.diff import change, patch
from stenograph.render.html.highlight import LANGUAGES, Highlighter
from stenograph.render.html.output import folded, input_html
from stenograph.render.html.page_writer import HtmlPageWriter
from stenograph.render.html.prose import _Prose, prose
from stenograph.render.layout import PageLayout
from strategies import BRIEF, PATIENT, RUN_ID, runs, wild_json_values, wild_texts

MARKUP = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "<!--",
    "--><svg onload=alert(1)>",
    "]]>",
    "<![CDATA[",
    "<?xml",
    "' onmouseover='alert(1)",
    '" autofocus onfocus="alert(1)',
    "&lt;b&gt;&#x3c;",
    "javascript:alert(1)",
    "[a](javascript:alert(1))",
    '[a](https://a.example/" onclick="alert(1))',
    "![x](https://a.example/x.png)",
    "<https://a.example>",
    "https://a.example/<b>",
    "`<b>`",
    "```html\n<script>\n```",
    "~~~\n</pre>",
    "| a | b |\n|---|---|\n| <td> | `|` |",
    "- a\n  - b\n    1. c\n\n- d",
    "> > > quote\n> - x",
    "# <h1>\n\n***",
    "**a *b** c*",
    "~~**x~~**",
    "\x1b[31;1m<b>\x1b[0m",
    "\x1b[38;5;999999999m\x1b[48;2;1;2m",
    "diff --git a b\n+<b>\n-</b>",
    "*** Begin Patch\n+x",
    "\n\nleading",
    "a\u202eb\u2066",
]
hostile = st.lists(st.sampled_from(MARKUP) | wild_texts, max_size=4).map("".join)
CHANGES = ("old_string", "new_string", "file_path", "content")
names = st.sampled_from(["command", "cmd", *CHANGES, "edits"])
named = st.recursive(
    hostile, lambda inner: st.dictionaries(names, inner | st.lists(inner, max_size=2), max_size=3), max_leaves=5
)
"""What tools are given under the names that a page knows, at any depth."""
hostile_json = wild_json_values | st.dictionaries(hostile, hostile, max_size=3) | hostile | named


@BRIEF
@given(runs(), st.booleans())
def test_any_run_is_a_page_of_ours(run: list[Event], full: bool) -> None:
    """Every tag, attribute and address on it is one that a page of ours may have, each closed where it began."""
    page = Page("".join(html_page(lambda: run, full=full)))
    assert "main" in page.tags


@PATIENT
@given(hostile)
def test_prose_stays_inside(words: str) -> None:
    """Markdown with anything in it gives elements of ours alone, and every word of it."""
    read = Page(prose(words))
    for word in re.findall(r"[a-z]{3,}", visible(words)):
        assert word in read.text or any(word in link for link in read.links)


WORDS = [
    "word",
    "Zwei",
    "1",
    ".",
    "-",
    " ",
    "    ",
    "\n",
    "\n\n",
    "(a)",
    '"q"',
    "[[a]]",
    "<b>",
    "&amp;",
    "#",
    "a_b",
    "_",
]
WORDS += ["|", ":", "=", "!", "[a]:", "x:y", "<!--", "+", ">", "1)"]
unmarked = st.lists(st.sampled_from(WORDS), max_size=12)


@PATIENT
@given(unmarked.map("".join))
def test_a_text_without_marks_is_what_the_parser_gives(words: str) -> None:
    """The short way for plain paragraphs changes nothing but the time it takes."""
    assert prose(words) == _Prose(words, Highlighter()).html()


@PATIENT
@given(hostile, st.sampled_from(sorted(LANGUAGES)))
def test_coloured_code_is_the_code(code: str, language: str) -> None:
    """Whatever a lexer makes of it: every character is there, once, inside elements of ours."""
    assert Page(Highlighter().html(code, language=language)).text == visible(code)


@PATIENT
@given(hostile, hostile)
def test_output_stays_inside_and_whole(one: str, other: str) -> None:
    """Outputs, patches and changes show every line, and nothing else than lines."""
    read = Page(folded(one, full=False))
    for each in visible(_colorless(one)).split("\n"):
        assert each in read.text
    read = Page(patch(one))
    for each in visible(one).split("\n"):
        assert each in read.text
    read = Page(change(one, other))
    for each in (*visible(one).split("\n"), *visible(other).split("\n")):
        assert each in read.text


def _colorless(words: str, instead: str = "") -> str:
    return re.sub(r"\x1b\[[0-9;:]{0,80}m", instead, words)


@PATIENT
@given(hostile_json)
def test_input_stays_inside_and_whole(value: Any) -> None:
    """Whatever a tool is given is shown with every string and key in it; a command and a change are known by form."""
    read = Page(input_html(value, full=False))
    for words in _strings(value, by_form=("command", "cmd", *CHANGES)):
        for word in re.findall(r"[A-Za-z]{3,}", _colorless(words, " ")):
            assert word in read.text


def _strings(value: Any, by_form: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (key for key in value if key not in by_form)
        for item in value.values():
            yield from _strings(item, CHANGES)  # inside, a command is not known by its form
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, CHANGES)


@PATIENT
@given(st.lists(hostile, max_size=4))
def test_colours_go_on_where_a_piece_ends(pieces: list[str]) -> None:
    """Cutting an output between lines changes nothing but where elements end: the text is that of the whole."""
    ansi = Ansi()
    parts = [Page(ansi.html(piece + "\n")).text for piece in pieces]
    assert "".join(parts) == Page(Ansi().html("".join(piece + "\n" for piece in pieces))).text


texts = st.text("ab <&\n", max_size=5)
sources = st.sampled_from(["main", "main", "subagent:a", "subagent:b", "subagent:c"])


@st.composite
def _conversations(draw: st.DrawFn) -> list[Event]:
    """Sources that talk at once: calls, results, spawned subagents, in any order, with ids used twice."""
    told = []
    parents = {
        f"subagent:{name}": (draw(sources), draw(st.sampled_from(["c-1", "c-2", "c-3", None]))) for name in "abc"
    }
    for seq in range(1, draw(st.integers(1, 14)) + 1):
        source = draw(sources)
        parent, call = parents.get(source, (None, None))
        origin = Origin(source=source, parent_source=parent, parent_call_id=call) if source != "main" else None
        kind = draw(st.sampled_from(["message.user", "message.assistant", "tool.call", "tool.result", "system.event"]))
        told.append(_event(seq, kind, _payload(draw, kind), origin))
    return told


def _payload(draw: st.DrawFn, kind: str) -> Any:
    call_id = draw(st.sampled_from(["c-1", "c-2", "c-3", ""]))
    if kind == "system.event":
        return SystemPayload(subtype="note", text=draw(texts))
    if kind.startswith("tool."):
        return ToolPayload(
            name="Read",
            call_id=call_id,
            input=None,
            output=draw(texts),
            fidelity=draw(st.sampled_from(["router", "agent_emitted"])),
        )
    blocks = [TextBlock(fidelity="router", text=draw(texts)), ThinkingBlock(fidelity="router", thinking=draw(texts))]
    if draw(st.booleans()):
        blocks.append(ToolUseBlock(fidelity="router", tool_name="untold", tool_id=call_id, tool_input=draw(texts)))
    return MessagePayload(role=kind.rpartition(".")[2], blocks=tuple(blocks))


def _event(seq: int, kind: str, payload: Any, origin: Origin | None) -> Event:
    return Event(
        seq=seq,
        run_id=RUN_ID,
        type=kind,
        path="",
        iteration=0,
        timestamp=f"2026-06-08T08:14:{seq:02}Z",
        origin=origin,
        payload=payload,
    )


@PATIENT
@given(_conversations(), st.sampled_from([0, 200, 10**6]))
def test_every_event_has_its_place_exactly_once(run: list[Event], hold: int) -> None:
    """Whoever talks at once and however little is held: no event is lost, none is told twice, all is well nested."""
    body = "".join(PageLayout(page_facts_of(run), HtmlPageWriter(), hold=hold).text(run))
    ids = [each for each in Page(body).ids if each.startswith("seq-")]
    assert sorted(ids) == sorted(f"seq-{event.seq}" for event in run)


@PATIENT
@given(_conversations(), st.integers(0, 14))
def test_a_run_that_grows_while_it_is_read_is_whole(run: list[Event], known: int) -> None:
    """What came after the survey is on the page, too."""
    body = "".join(PageLayout(page_facts_of(run[:known]), HtmlPageWriter()).text(run))
    assert {f"seq-{event.seq}" for event in run} <= set(Page(body).ids)


@PATIENT
@given(_conversations())
def test_a_page_is_the_same_every_time(run: list[Event]) -> None:
    """Nothing of a page depends on the clock, on chance or on how the events are kept."""
    again = [replace(event) for event in run]
    assert "".join(html_page(lambda: run)) == "".join(html_page(lambda: iter(again)))


MORE = ["\x1b[", "\x1b[31m", "# ", "~~", "\\", "1. \n", "a|b\n-|-\n", "@@ -1\n", "@@ -1\n-a b\n+a c\n", "<", "\n", "\t"]


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "``` ",
        "**",
        "*a ",
        "[",
        "[a](",
        "[a](https://a.example/",
        "https://a",
        "> ",
        "- ",
        "  - a\n",
        "|",
        "|-|\n",
        *MORE,
    ],
)
def test_rendering_is_linear(piece: str) -> None:
    """Ten times as much of anything takes about ten times as long, and not a hundred."""
    small, large = (piece * (size // len(piece)) for size in (20_000, 200_000))
    for render in (prose, lambda words: folded(words, full=False)):
        few, many = _seconds(render, small), _seconds(render, large)
        assert many < 40 * few + 0.5


def _seconds(render: Any, words: str) -> float:
    best = 9e9
    for _ in range(3):
        began = time.process_time()
        render(words)
        best = min(best, time.process_time() - began)
    return best
