"""Tokens and dollars of every golden case, compared with a counter that shares no code with the product."""

from __future__ import annotations

from pathlib import Path

import pytest

from accounting import COUNTER, TABLE, cost_of, counted, naive, plain
from golden_cases import CASES, input_of, name_of

COUNTED = [case for case in CASES if case.parent.name in COUNTER.FORMATS]


@pytest.mark.parametrize("case", COUNTED, ids=name_of)
def test_tokens_and_dollars_of_each_call_are_those_of_an_independent_count(case: Path) -> None:
    """Call by call, with what its price depends on; and what all of them cost."""
    path = input_of(case)
    ours, theirs = counted(path), COUNTER.calls(case.parent.name, path)
    assert sorted(map(repr, map(plain, ours))) == sorted(map(repr, map(naive, theirs)))
    assert cost_of(ours) == pytest.approx(COUNTER.dollars(theirs, TABLE)[0], abs=1e-9)


def test_the_comparison_is_of_many_calls_and_real_money() -> None:
    """A counter that finds nothing would agree with anything."""
    calls = [call for case in COUNTED for call in COUNTER.calls(case.parent.name, input_of(case))]
    assert len(calls) > 300
    assert COUNTER.dollars(calls, TABLE)[0] > 1
