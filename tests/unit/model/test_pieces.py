"""JSON in pieces is the same JSON."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json
from msgspec.structs import replace

from stenograph.model import Event, codec, pieces
from stenograph.model.codec import encode, encode_pieces
from stenograph.model.pieces import has_long_text, is_plain, json_pieces
from strategies import BRIEF, runs

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything counts as long, and a piece has three characters."""
    monkeypatch.setattr(pieces, "LONG", 2)
    monkeypatch.setattr(codec, "LONG", 2)
    monkeypatch.setattr(pieces, "_PIECE", 3)


@BRIEF
@given(VALUES)
def test_any_value_in_pieces_is_its_json(value: Any) -> None:
    """As msgspec writes it."""
    assert is_plain(value)
    assert b"".join(json_pieces(value)) == json.encode(value)


@BRIEF
@given(runs(4), TEXTS)
def test_any_event_in_pieces_is_its_line(run: list[Event], raw: str) -> None:
    """With and without a source line."""
    for event in (*run, *(replace(event, raw=raw, raw_b64=None) for event in run)):
        try:
            line = encode(event)
        except UnicodeEncodeError:
            continue
        assert b"".join(encode_pieces(event)) == line


def test_what_json_has_no_form_for_is_not_plain() -> None:
    """Nor what cannot be written in UTF-8, nor what is deeper than anybody means."""
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    for value in ({1: "x"}, {"\ud800": 1}, ["a \ud800 b" * 9], object(), {"x": {1}}, b"x", deep):
        assert not is_plain(value)
    assert is_plain({"id": UUID(int=1)})
    assert b"".join(json_pieces({"id": UUID(int=1)})) == json.encode({"id": UUID(int=1)})


def test_long_texts_are_seen_at_the_surface() -> None:
    """Which is where entries have them."""
    assert has_long_text({"content": "xyz"})
    assert not has_long_text({"content": "x", "detail": {"text": "xyz"}})
