"""A run as Markdown, read back by a Markdown parser of somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

import page_sample
from stenograph.fold.prices import Price, Prices
from stenograph.model import Event, MessagePayload, SystemPayload, TextBlock, ThinkingBlock, ToolPayload
from stenograph.render.control_chars import visible
from stenograph.render.markdown import markdown_page
from stenograph.render.markdown_text import escaped, fenced, html_text, paragraph, quoted, safe_markdown
from strategies import BRIEF, PATIENT, runs, wild_texts

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OURS = re.compile(r"<details><summary>[^<>]*</summary>|</details>")
ATTACKS = [
    "<script>alert(1)</script>",
    "`<b>` ` <i>\n`<script>`",
    "\\`<b>`",
    "| `a | <img src=x>` |\n|---|---|\n| `b | <script>` |",
    "```\n<b>\n````\n</details>",
    "~~~\n```\n<script>",
    "</details></summary>",
    "<!--",
    "title\n===",
    "title\n---",
    "title\n-",
    "# one\n## two",
    "- # in a list\n> # in a quote",
    "1. # numbered",
    "![x](https://a.example/x.png)",
    "[x](javascript:alert(1))",
    "[x](ftp://a.example)",
    "[x]: ftp://a.example\n\n[x]",
    "| a | b |\n|---|---|\n| `b | <script>` |",
    "<javascript:alert(1)>",
    "&lt;b&gt; &#60;",
    "    <b>indented</b>",
    "\t# tab",
    "a\\",
    "*a* _b_ **c** ~~d~~",
    "1) x\n+ y\n- z",
    "#",
    "**bold\n# x**",
]
hostile = st.lists(
    st.sampled_from(ATTACKS) | st.sampled_from(["\n", " ", "`", "\\", "|"]) | wild_texts, max_size=5
).map("".join)


def _page(events: list[Event], **options: bool) -> str:
    return "".join(markdown_page(lambda: events, **options))


def _tokens(markdown: str) -> Iterator[Token]:
    for token in PARSER.parse(markdown):
        yield token
        yield from token.children or ()


def _event(kind: str, payload: Any, seq: int = 1) -> Event:
    return Event(
        seq=seq, run_id="r", type=kind, path="", iteration=0, timestamp="2026-06-08T08:14:42Z", payload=payload
    )


def _said(role: str, *blocks: Any) -> Event:
    return _event(f"message.{role}", MessagePayload(role=role, blocks=blocks))


def _text(words: str) -> TextBlock:
    return TextBlock(fidelity="router", text=words)


def _assert_tame(markdown: str) -> None:
    """No HTML but ours, every fold closed, no image, no address but of the web."""
    depth = 0
    for token in _tokens(markdown):
        if token.type in ("html_block", "html_inline"):
            for each in filter(None, re.split(r"\n|(?<=>)(?=<)", token.content)):
                assert OURS.fullmatch(each) or each in ("<details>", "</summary>") or each.startswith("<summary>"), each
        assert token.type != "image"
        if token.type == "link_open":
            assert re.match(r"https?://", str(token.attrs["href"]))
    opened, closed = (len(re.findall(tag, _outside_fences(markdown))) for tag in ("<details>", "</details>"))
    depth = opened - closed
    assert depth == 0


def _outside_fences(markdown: str) -> str:
    lines = markdown.split("\n")
    for token in PARSER.parse(markdown):
        if token.type in ("fence", "code_block") and token.map is not None:
            lines[slice(*token.map)] = [""] * (token.map[1] - token.map[0])
    return "\n".join(lines)


@BRIEF
@given(runs(), st.booleans())
def test_any_run_is_tame_markdown(run: list[Event], full: bool) -> None:
    """It has one heading for the run and one for each unit, and nothing of the transcript breaks out."""
    markdown = _page(run, full=full)
    _assert_tame(markdown)
    prompts = sum(1 for event in run if event.type == "message.user" and event.source == "main")
    has_before = bool(run) and not (run[0].type == "message.user" and run[0].source == "main")
    headings = [token for token in _tokens(markdown) if token.type == "heading_open"]
    assert len(headings) == 1 + prompts + has_before


@PATIENT
@given(hostile)
def test_what_an_agent_wrote_is_tame(words: str) -> None:
    """Markdown with anything in it keeps its words and has no HTML, heading, image or address but of the web."""
    _assert_safe(words)


@pytest.mark.parametrize("words", ATTACKS)
def test_each_attack_is_tamed(words: str) -> None:
    """Alone, after a passage, and with a stray backtick before and behind it."""
    for each in (words, f"text\n{words}", f"` {words}", f"{words}`", f"\\{words}"):
        _assert_safe(each)


def _assert_safe(words: str) -> None:
    markdown = safe_markdown(words)
    for token in _tokens(markdown):
        assert token.type not in ("html_block", "html_inline", "heading_open", "image")
        if token.type == "link_open":
            assert re.match(r"https?://", str(token.attrs["href"]))
    for word in re.findall("[a-z]{4,}", visible(words)):
        assert word in markdown


@PATIENT
@given(hostile)
def test_what_a_tool_gave_cannot_end_its_fence(words: str) -> None:
    """A fenced text is one block of code, and the block is the text."""
    blocks = PARSER.parse(fenced(words))
    assert [token.type for token in blocks] == ["fence"]
    assert blocks[0].content == visible(words) + "\n"


@PATIENT
@given(hostile.filter(str.strip))
def test_what_somebody_typed_is_shown_as_it_is(words: str) -> None:
    """As a quotation or a paragraph it is text and line ends alone, character by character."""
    for markdown in (quoted(words), paragraph(words)):
        kinds = {token.type for token in _tokens(markdown)} - {"blockquote_open", "blockquote_close"}
        assert kinds <= {
            "paragraph_open",
            "paragraph_close",
            "inline",
            "text",
            "hardbreak",
            "text_special",
            "softbreak",
        }
        shown = "".join(token.content if token.type != "hardbreak" else "\n" for token in _leaves(markdown))
        wanted = visible(words).replace("\t", "    ")
        assert shown.replace("\xa0", " ").split() == wanted.split()


def _leaves(markdown: str) -> list[Token]:
    return [child for token in PARSER.parse(markdown) for child in token.children or ()]


@PATIENT
@given(hostile.map(lambda words: words.replace("\n", " ").strip()).filter(bool))
def test_a_name_is_a_name(words: str) -> None:
    """An escaped line is one passage of text."""
    tokens = PARSER.parse("x " + escaped(words))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {token.type for token in tokens[1].children or ()} <= {"text", "text_special"}
    assert "<" not in html_text(words)


def test_the_sample_reads_well() -> None:
    """Prompts are quotations, thinking is folded, commands, changes and outputs are code of their kind."""
    markdown = _page(list(page_sample.events()))
    for part in (
        "# Requests get slower and slower after one outage. Find out why, and fix it.\n",
        "\n## 2. This is how the delays look now. Is it the jitter?\n",
        "\n> Requests get slower",
        "<details><summary>Thinking</summary>\n\nThe delay only ever grows. Where is it reset?\\\n",
        "```sh\npytest -q tests/test_client.py\n```",
        "```diff\n         response = self._once(request)\n+        self.delay = FIRST\n",
        "```diff\n*** Begin Patch",
        "🔧 **Bash** **failed**",
        "\n_18,420 tokens in, 310 out_\n",
        "| first retry | 0.5 s | 0.5 s |",
        "✗ **error**\n\n```\nOverloaded\n```",
        "\\[image/png,",
    ):
        assert part in markdown
    _assert_tame(markdown)
    assert "\x1b" not in markdown
    assert "[31m" not in markdown


def test_a_subagent_stands_between_its_call_and_the_result() -> None:
    """In a fold of its own, closed before the result."""
    markdown = _page(list(page_sample.events()))
    call, fold = (
        markdown.index("🔧 **Task**"),
        markdown.index("<details><summary>Subagent Map the callers (Explore), 1 tool call · a61a78</summary>"),
    )
    inside, result = markdown.index("git ls-files"), markdown.index("60 modules; 12 of them")
    assert call < fold < inside < result
    between = markdown[fold:result]
    assert between.count("<details>") == between.count("</details>")


@pytest.mark.parametrize(("lines", "is_folded"), [(20, False), (21, True)])
def test_a_long_output_is_folded_with_its_length(lines: int, is_folded: bool) -> None:
    """Unless it is asked for in full."""
    output = "\n".join(f"line {number}" for number in range(lines))
    payload = ToolPayload(name="Read", call_id="c", input=None, output=output, fidelity="router")
    fold = f"<details><summary>{lines} lines</summary>"
    assert (fold in _page([_event("tool.result", payload)])) is is_folded
    assert fold not in _page([_event("tool.result", payload)], full=True)


def test_spaces_and_empty_lines_of_a_prompt_stay() -> None:
    """Code in a prompt keeps its shape."""
    assert quoted("a:\n    b\n\nc") == "> a:\\\n> &nbsp;&nbsp;&nbsp;&nbsp;b\\\n> &nbsp;\\\n> c\n\n"


def test_headings_of_an_agent_are_strong_lines() -> None:
    """The headings of the page are its units alone."""
    assert safe_markdown("## Plan\n\ntext") == "**Plan**\n\ntext\n\n"
    assert safe_markdown("a\n---\nb") == "a\n\n* * *\n\nb\n\n"


def test_markdown_says_costs_names_and_outcomes() -> None:
    """As the page does: agents by their names, dollars per prompt, exit code and time in the head of a call."""
    prices = Prices({"claude-sonnet-4-5": Price(input=100, output=100)}, "2026-01-01")
    markdown = "".join(markdown_page(lambda: list(page_sample.events()), prices=prices))
    assert "- Agent: Claude Code, claude-sonnet-4-5" in markdown
    assert re.search(r"^_.* · \\\$4\.\d\d_$", markdown, re.MULTILINE)
    assert re.search(r"^🔧 \*\*Grep\*\* 08:14:07 · 180 ms$", markdown, re.MULTILINE)


def test_system_events_are_asides() -> None:
    """What follows one another stands in one fold, which counts them."""
    note = SystemPayload(subtype="hook", text="ran", data={"code": 0})
    markdown = _page([_event("system.event", note, 1), _event("system.event", note, 2), _said("user", _text("hi"))])
    assert "<details><summary>2 × Hook</summary>" in markdown
    assert markdown.count("**Hook**") == 2


def test_thinking_is_folded_and_exact() -> None:
    """Marks in it are shown, not obeyed."""
    markdown = _page([_said("assistant", ThinkingBlock(fidelity="router", thinking="*hm* <b>"))])
    assert "<details><summary>Thinking</summary>\n\n\\*hm\\* &lt;b&gt;\n\n</details>" in markdown
