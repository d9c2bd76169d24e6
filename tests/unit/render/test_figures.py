"""Numbers and times as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.render.figures import amount, bar, cost, duration, when


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (9_999, "9,999"),
        (10_000, "10.0k"),
        (12_345, "12.3k"),
        (999_999, "1.00M"),
        (4_560_000, "4.56M"),
    ],
)
def test_amounts_have_three_figures(number: int, text: str) -> None:
    """With a unit above ten thousand."""
    assert amount(number) == text


@given(st.integers(0, 10**12))
def test_an_amount_is_never_far_from_its_number(number: int) -> None:
    """Read back, it is within half a percent."""
    text = amount(number)
    factor = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)
    assert float(text.rstrip("kMG").replace(",", "")) * factor == pytest.approx(number, rel=0.006)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.84, "840 ms"),
        (0.9999, "1.0 s"),
        (42.4, "42 s"),
        (59.6, "1 min 0 s"),
        (185, "3 min 5 s"),
        (7_800, "2 h 10 min"),
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
    assert cost(None, is_partial=True) == "unknown"
    assert cost(1.5, is_partial=True) == "≥ $1.50"
    assert cost(1234.5, is_partial=False) == "$1,234.50"
    assert cost(0.0012, is_partial=False) == "$0.0012"
    assert cost(None, is_partial=False) == ""


@given(st.floats(0, 1), st.integers(1, 40))
def test_a_bar_fills_its_share(share: float, width: int) -> None:
    """Never more than the width, and the whole of it for everything."""
    assert len(bar(share, width)) <= width
    assert bar(1, width) == "█" * width
    assert bar(0, width) == ""
