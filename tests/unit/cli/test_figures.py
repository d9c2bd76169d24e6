"""Numbers and times as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.cli.figures import amount, bar, duration, when
from stenograph.fold.prices import Cost
from stenograph.render.figures import money


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1_000, "1.00k"), (12_345, "12.3k"), (999_999, "1.00M"), (4_560_000, "4.56M")],
)
def test_amounts_have_three_figures(number: int, text: str) -> None:
    """With a unit above a thousand."""
    assert amount(number) == text


@given(st.integers(0, 10**12))
def test_an_amount_is_never_far_from_its_number(number: int) -> None:
    """Read back, it is within half a percent."""
    text = amount(number)
    factor = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)
    assert float(text.rstrip("kMG")) * factor == pytest.approx(number, rel=0.006)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.84, "840 ms"),
        (0.9999, "1.0 s"),
        (42.4, "42 s"),
        (59.6, "1 m 00 s"),
        (185, "3 m 05 s"),
        (7_800, "2 h 10 m"),
        (273_600, "3 d 4 h"),
    ],
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    """From tenths of a second to days."""
    assert duration(seconds) == text


def test_a_moment_that_is_none_stays_as_it_is() -> None:
    """An agent may write anything for a time."""
    assert when("last tuesday") == "last tuesday"
    assert when(None) == ""
    assert len(when("2026-11-16T00:32:48.164Z")) == len("2026-11-16 00:32")


def test_what_has_no_price_is_unknown_and_never_nothing() -> None:
    """A part without a price makes the rest a lower bound."""
    assert money(Cost(None, is_partial=True)) == "unknown"
    assert money(Cost(1.5, is_partial=True)) == "≥ $1.50"
    assert money(Cost(1234.5)) == "$1,234.50"
    assert money(Cost(0.0012)) == "$0.0012"
    assert money(Cost(None)) == ""


@given(st.floats(0, 1), st.integers(1, 40))
def test_a_bar_fills_its_share(share: float, width: int) -> None:
    """Never more than the width, and the whole of it for everything."""
    assert len(bar(share, width)) <= width
    assert bar(1, width) == "█" * width
    assert bar(0, width) == ""
