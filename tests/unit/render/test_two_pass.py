"""Reading twice, and when it is from memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import page_sample
from stenograph.model import Event, UnknownPayload, encode
from stenograph.render.two_pass import TwoPass

RUN = list(page_sample.events())
SIZE = sum(len(encode(event)) for event in RUN)


@pytest.mark.parametrize(("limit", "times"), [(SIZE, 1), (SIZE - 1, 2), (0, 2)])
def test_a_long_run_is_read_again_and_a_short_one_remembered(limit: int, times: int) -> None:
    """The events are the same both times, and of a run beyond the limit nothing is kept."""
    begun: list[int] = []

    def read() -> Iterator[Event]:
        begun.append(1)
        return iter(RUN)

    events = TwoPass(read, limit=limit)
    assert list(events) == RUN
    assert list(events) == RUN
    assert len(begun) == times


def test_what_no_journal_can_hold_is_read_again() -> None:
    """A lone surrogate has no size, and is no reason to fail."""
    event = Event(
        seq=1, run_id="r", type="unknown", path="", iteration=0, timestamp="", payload=UnknownPayload(text="\ud800")
    )
    begun: list[int] = []

    def read() -> list[Event]:
        begun.append(1)
        return [event, event]

    events = TwoPass(read)
    assert list(events) == list(events) == [event, event]
    assert len(begun) == 2
