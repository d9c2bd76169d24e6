"""Outputs without what agents put around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import CASES, run_of
from stenograph.model import ToolPayload
from stenograph.render.unwrapped import unwrapped

SHAPES = [
    ("<tool_use_error>not found\nat all</tool_use_error>", "not found\nat all", ()),
    (
        "Chunk ID: ea9b16\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 5\nOutput:\nerr\n",
        "err\n",
        ("Chunk ID: ea9b16", "Wall time: 0.1 seconds", "Process exited with code 3", "Original token count: 5"),
    ),
    (
        "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nA a.txt\n",
        "A a.txt\n",
        ("Exit code: 0", "Wall time: 0.1 seconds"),
    ),
    (
        "<untrusted_context>\nOutput: hi\nyou\nExit Code: 3\nProcess Group PGID: 11577\n</untrusted_context>",
        "hi\nyou",
        ("Exit Code: 3", "Process Group PGID: 11577"),
    ),
    (
        "<path>/a.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n</content>",
        "1: one\n2: two",
        ("/a.txt", "file"),
    ),
]


@pytest.mark.parametrize(("output", "text", "facts"), SHAPES)
def test_a_wrapper_is_taken_off(output: str, text: str, facts: tuple[str, ...]) -> None:
    """The output stands alone, and what the wrapper says is kept beside it."""
    found = unwrapped(output)
    assert (found.text, found.facts) == (text, facts)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "Output:\nplain",
        "Wall time: 3 seconds",
        "a <tool_use_error>x</tool_use_error>",
        "<tool_use_error>x",
        "<untrusted_context>\nx",
        "<path>/a</path>\nand more",
    ],
)
def test_what_only_looks_like_a_wrapper_stays(output: str) -> None:
    """A wrapper is one only where it is whole."""
    assert unwrapped(output).text == output


@given(st.text(max_size=300))
def test_nothing_is_lost(words: str) -> None:
    """Every output comes out of every wrapper as it was put in."""
    if "\n" not in words.strip("\n") and not words.startswith(("Output: ", "Signal: ", "Exit Code: ")):
        assert unwrapped(f"<tool_use_error>{words}</tool_use_error>").text == words
        assert unwrapped(f"Wall time: 1 s\nOutput:\n{words}").text == words


def test_the_outputs_of_real_agents_have_no_wrapper() -> None:
    """In no golden run does a wrapper stay that we know."""
    for case in CASES:
        for event in run_of(case):
            if isinstance(event.payload, ToolPayload) and isinstance(event.payload.output, str):
                begin = unwrapped(event.payload.output).text[:40]
                assert not begin.startswith(("<tool_use_error>", "<untrusted_context>", "Chunk ID:", "<path>")), case
