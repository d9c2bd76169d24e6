"""The pages of a run are found by an index of units."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stenograph.server.pages import EVENTS, UNITS, pages_of


@given(
    st.integers(0, 3000).flatmap(
        lambda last: st.tuples(st.sets(st.integers(1, max(1, last)), max_size=200), st.just(last))
    )
)
def test_pages_hold_every_event_once(run: tuple[set[int], int]) -> None:
    """In order, each with 20 units or 400 events at most, and cut inside a unit only where a page is full."""
    last = run[1]
    prompts = sorted(each for each in run[0] if each <= last)
    pages = pages_of(prompts, last)
    assert [seq for page in pages for seq in range(page.first, page.last + 1)] == list(range(1, last + 1))
    for page in pages:
        begun = [seq for seq in prompts if page.first <= seq <= page.last]
        assert len(begun) + (page.first not in prompts) <= UNITS
        assert page.last - page.first < EVENTS
        assert page.unit == sum(seq <= page.first for seq in prompts)
        assert page.is_continued == (page.first > 1 and page.first not in prompts)
    for before, page in pairwise(pages):
        if page.is_continued:
            assert before.last - before.first == EVENTS - 1


@given(st.sets(st.integers(1, 2000), max_size=150), st.integers(1, 2000), st.integers(0, 500))
def test_pages_stay_while_a_run_grows(prompts: set[int], last: int, more: int) -> None:
    """A link to a page of yesterday leads to the same events today: only the last page gets longer."""
    before = pages_of(sorted(seq for seq in prompts if seq <= last), last)
    after = pages_of(sorted(seq for seq in prompts if seq <= last + more), last + more)
    assert after[: len(before) - 1] == before[:-1]
    assert after[len(before) - 1].first == before[-1].first
