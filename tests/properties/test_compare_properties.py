"""A comparison agrees with the folds on every number, and has every turn and call of both runs once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden_cases import CASES, input_of
from stenograph.fold.calls import pair_calls
from stenograph.fold.compare import _aligned, compare
from stenograph.fold.explain import explained
from stenograph.fold.totals import totals_of
from stenograph.model import Event
from stenograph.query.prices import load_prices
from stenograph.render.comparison import comparison_lines
from stenograph.sources.conversion import convert

PRICES = load_prices()
SHORT = st.lists(st.sampled_from("abc"), max_size=12)


@given(SHORT, SHORT, st.booleans())
def test_every_item_is_aligned_once_and_in_order(left: list[str], right: list[str], by_place: bool) -> None:
    """On both sides; equal lists are aligned item by item."""
    pairs = list(_aligned(left, right, by_place=by_place))
    assert [at for at, _ in pairs if at is not None] == list(range(len(left)))
    assert [to for _, to in pairs if to is not None] == list(range(len(right)))
    if not by_place:
        assert all(left[at] == right[to] for at, to in pairs if at is not None and to is not None)
    if left == right:
        assert pairs == [(place, place) for place in range(len(left))]


def _runs(case: Path) -> list[list[Event]]:
    events = list(convert(input_of(case), keep_raw=False))
    return [[event for event in events if event.run_id == run_id] for run_id in {event.run_id for event in events}]


@pytest.mark.parametrize("number", range(0, len(CASES), 2))
def test_two_real_transcripts_are_compared_whole(number: int) -> None:
    """Figures are those of the folds; every call of either run is there once; a run is the same as itself."""
    left = _runs(CASES[number])[0]
    right = _runs(CASES[(number + 1) % len(CASES)])[0]
    one, other = explained(left, PRICES), explained(right, PRICES)
    told = compare(one, other)
    for side, events in (("left", left), ("right", right)):
        totals = totals_of(events)
        figures = {figure.name: getattr(figure, side) for figure in told.figures}
        for name in ("turns", "messages", "tool_calls", "failed_calls", "errors", "subagents"):
            assert figures[name] == getattr(totals, name), name
        assert figures["input_tokens"] == totals.tokens.input_tokens
        assert figures["output_tokens"] == totals.tokens.output_tokens
        calls = Counter(pair.call.seq for pair in pair_calls(events) if pair.call is not None)
        found = Counter(seq for call in told.calls if (seq := getattr(call, f"{side}_seq")) is not None)
        assert found == calls
        assert (
            figures["tool_calls"]
            == len(told.calls) - told.calls_by_kind["only_right" if side == "left" else "only_left"]
        )
    assert all("\n" not in line for line in comparison_lines(told))
    assert compare(one, one).is_same
