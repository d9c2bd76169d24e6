"""Payload content as text that never fails."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.model import TextBlock
from stenograph.transcript.content import as_text, indented
from strategies import nested


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("as it is\n", "as it is\n"),
        ("", ""),
        (0, "0"),
        (False, "false"),
        (10**30, "1" + "0" * 30),
        ([], "[]"),
        ({"b": [1, {}], "a": "é\u2028"}, '{\n  "b": [\n    1,\n    {}\n  ],\n  "a": "é\u2028"\n}'),
        (("tuple", float("nan")), '[\n  "tuple",\n  null\n]'),
        ({"\ud800": "\udfff"}, '{\n  "\ufffd": "\ufffd"\n}'),
        (TextBlock(fidelity="router", text="hi"), '{\n  "type": "text",\n  "fidelity": "router",\n  "text": "hi"\n}'),
    ],
    ids=ascii,
)
def test_any_value_reads_like_something(value: Any, text: str) -> None:
    """Strings as they are, nothing as nothing, the rest as indented JSON with its keys in their order."""
    assert as_text(value) == text


@pytest.mark.parametrize("leaf", ["x", "\ud800"])
def test_what_is_nested_too_deeply_says_so(leaf: str) -> None:
    """Never an exception, with or without odd characters at the bottom."""
    assert indented(nested(20, leaf)).startswith("[\n  {")
    for depth in (300, 500, 900, 5000):
        text = indented(nested(depth, leaf))
        assert text == "[nested too deeply to show]" or text.count("deep") == depth // 2
