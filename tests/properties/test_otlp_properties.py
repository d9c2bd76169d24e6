"""Spans in any order, twice, in any batches: the run is always the same."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otlp_spans import CASES, grown, joined, requests_in, routed, whole
from strategies import examples


@cache
def _expected(case: str) -> dict[str, list[bytes]]:
    return {key: whole(lines, key) for key, lines in routed(requests_in(case)).items()}


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
@examples(6)
def test_any_order_repetition_and_batching_of_spans_gives_the_same_runs(case: str, data: st.DataObject) -> None:
    """What each conversation tells, read at once and growing line by line, does not depend on how its spans came."""
    requests: list[dict[str, Any]] = data.draw(st.permutations(requests_in(case)), label="order")
    again = data.draw(st.lists(st.integers(0, len(requests) - 1), max_size=5), label="repeated")
    requests = [*requests, *(requests[number] for number in again)]
    cuts = data.draw(st.sets(st.integers(1, len(requests)), max_size=8), label="cuts")
    places = [0, *sorted(cuts), len(requests)]
    batches = [joined(requests[start:end]) for start, end in pairwise(places) if start < end]
    found = routed(batches)
    assert {key: whole(lines, key) for key, lines in found.items()} == _expected(case)
    assert {key: grown(lines, key)[0] for key, lines in found.items()} == _expected(case)


@pytest.mark.parametrize("case", CASES)
def test_spans_in_the_order_in_which_they_end_are_told_once(case: str) -> None:
    """As frameworks send them, nothing has to be told again but what a subagent did before its tool ended."""
    for key, lines in routed(requests_in(case)).items():
        events, times = grown(lines, key)
        assert events == _expected(case)[key]
        assert times <= (case == "openai_agents")
