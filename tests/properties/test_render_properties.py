"""What a terminal never sees."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from stenograph.fold.tree import RunNode, StepNode, step_tree
from stenograph.model import Event
from stenograph.render.control_chars import on_one_line, visible
from stenograph.render.terminal import TerminalRenderer
from stenograph.render.tree import tree_lines
from strategies import BRIEF, HOSTILE, PATIENT, SURROGATES, events, runs, wild_texts

OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"  # C0 without \t \n, C1, bidi controls
)
OUR_STYLES = re.compile("\x1b\\[(?:0|2|31|1|32|33|34|35|36|36;1)m")

names = st.sampled_from([*HOSTILE, *SURROGATES])
maybe_names = st.sampled_from([None, *HOSTILE, *SURROGATES])
STATUSES = ["running", "waiting", "finished", "failed", "interrupted", "unknown"]
children = st.deferred(lambda: run_nodes)
step_nodes: st.SearchStrategy[StepNode] = st.deferred(
    lambda: st.builds(
        StepNode,
        name=names,
        kind=names,
        path=names,
        iteration=st.integers(0, 3),
        status=st.sampled_from(STATUSES),
        error=maybe_names,
        started_at=st.sampled_from(["", "2026-06-08T08:14:42Z"]),
        ended_at=st.sampled_from([None, "2026-06-08T08:14:43Z", "2026-06-08"]),
        messages=st.integers(0, 2),
        tool_calls=st.integers(0, 2),
        steps=st.lists(step_nodes, max_size=1).map(tuple),
        child=st.none() | st.none() | children,
        call_id=maybe_names,
        call_seq=st.none() | st.integers(1, 9),
    )
)
run_nodes: st.SearchStrategy[RunNode] = st.builds(
    RunNode,
    run_id=names,
    name=names,
    status=st.sampled_from([*STATUSES, "missing"]),
    error=maybe_names,
    started_at=maybe_names,
    ended_at=maybe_names,
    messages=st.integers(0, 2),
    tool_calls=st.integers(0, 2),
    steps=st.lists(step_nodes, max_size=2).map(tuple),
)


@PATIENT
@given(st.text())
def test_visible_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    """Every control character and bidi control is shown instead; what is harmless stays as it is."""
    shown = visible(text)
    assert not OBEYED.search(shown)
    shown.encode()
    if not OBEYED.search(text) and "\ufeff" not in text:
        assert shown == text


@PATIENT
@given(wild_texts)
def test_a_name_is_on_one_line(text: str) -> None:
    """A line break in a name is shown, not obeyed, so no name can forge a line of ours."""
    assert "\n" not in on_one_line(text)
    assert not OBEYED.search(on_one_line(text))


@BRIEF
@given(runs(), st.booleans())
def test_without_color_no_control_character_reaches_the_terminal(run: list[Event], full: bool) -> None:
    """Rendering any events never raises, and only newlines and tabs control anything."""
    renderer = TerminalRenderer(color=False, full=full)
    for event in run:
        text = renderer.render(event)
        assert not OBEYED.search(text)
        assert text == "" or text.endswith("\n")
        text.encode()


@BRIEF
@given(runs())
def test_with_color_the_only_escapes_are_ours(run: list[Event]) -> None:
    """Without our own styles the colored output is the plain one, so a transcript cannot style or move anything."""
    colored, bare = TerminalRenderer(color=True), TerminalRenderer(color=False)
    for event in run:
        text = colored.render(event)
        assert not OBEYED.search(OUR_STYLES.sub("", text))
        assert OUR_STYLES.sub("", text).split() == bare.render(event).split()


@BRIEF
@given(events())
def test_a_style_ends_where_it_began(event: Event) -> None:
    """What comes after an event is not colored by it."""
    text = TerminalRenderer(color=True).render(event)
    styles = OUR_STYLES.findall(text)
    assert not styles or styles[-1] == "\x1b[0m"


@BRIEF
@given(run_nodes)
def test_a_tree_is_one_clean_line_per_run_and_step(node: RunNode) -> None:
    """Names, errors and ids of any tree, missing runs included, cannot break a line or control the terminal."""
    lines = list(tree_lines(node))
    assert len(lines) == 1 + _lines_below(node)
    assert not any(OBEYED.search(line) or "\n" in line for line in lines)
    "".join(lines).encode()


def _lines_below(node: RunNode | StepNode) -> int:
    below = sum(1 + _lines_below(step) for step in node.steps)
    if isinstance(node, StepNode) and node.child is not None:
        below += 1 + _lines_below(node.child)
    return below


@BRIEF
@given(runs())
def test_the_tree_of_any_run_can_be_drawn(run: list[Event]) -> None:
    """From events to lines without an exception: one line for the run, one for each step and called run."""
    node = step_tree(run)
    assert len(list(tree_lines(node))) == 1 + _lines_below(node)
