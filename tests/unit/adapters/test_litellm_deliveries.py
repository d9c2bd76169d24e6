"""Deliveries: LiteLLM's late callbacks in the order of the calls."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.adapters.litellm import deliveries
from stenograph.adapters.litellm.deliveries import Deliveries


@pytest.fixture(autouse=True)
def _hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call is given up while a test is at it, however slow the machine."""
    monkeypatch.setattr(deliveries, "HOLD", 3600)


@pytest.fixture
def told() -> list[Any]:
    """What was told so far."""
    return []


@given(order=st.permutations(range(6)))
def test_calls_that_build_on_one_another_are_told_in_their_order(order: list[int]) -> None:
    """Each began when the one before was answered: whatever the order of delivery, none is told before its time."""
    told: list[Any] = []
    calls = Deliveries(lambda log: told.append(log["n"]))
    for number in range(6):
        calls.began(f"c{number}")
        calls.answered(f"c{number}")
    for number in order:
        calls.delivered(f"c{number}", {"n": number})
        assert told == list(range(len(told)))
    assert told == list(range(6))
    assert calls.close() == 0


def test_a_call_is_told_once(told: list[Any]) -> None:
    """LiteLLM may deliver a call by several of its callbacks."""
    calls = Deliveries(told.append)
    calls.began("a")
    for _ in range(3):
        calls.delivered("a", {"n": 1})
        calls.began("a")
    assert told == [{"n": 1}]
    assert not calls.are_open


def test_nobody_waits_for_a_call_under_way(told: list[Any]) -> None:
    """What another thread is still waiting for cannot be what this call built on."""
    calls = Deliveries(told.append)
    calls.began("slow")
    calls.began("quick")
    calls.delivered("quick", {"n": 2})
    calls.delivered("unannounced", {"n": 3})
    calls.delivered("slow", {"n": 1})
    assert [log["n"] for log in told] == [2, 3, 1]


def test_nothing_is_held_for_long(told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that was answered and is never delivered holds up the others for a moment only."""
    is_over = threading.Event()

    class Moment(threading.Timer):
        def run(self) -> None:
            while not self.finished.wait(0.01):
                if is_over.is_set():
                    self.finished.set()
                    self.function(*self.args, **self.kwargs)

    monkeypatch.setattr(threading, "Timer", Moment)
    calls = Deliveries(told.append)
    calls.began("lost")
    calls.answered("lost")
    calls.began("next")
    calls.delivered("next", {"n": 2})
    assert told == []
    is_over.set()
    until = time.monotonic() + 60
    while not told and time.monotonic() < until:
        time.sleep(0.01)
    assert told == [{"n": 2}]
    assert calls.close() == 1


def test_closing_tells_what_was_held_back(told: list[Any]) -> None:
    """At the end nothing stays untold, and what never came is counted."""
    calls = Deliveries(told.append)
    for name in ("lost", "next"):
        calls.began(name)
        calls.answered(name)
    calls.delivered("next", {"n": 2})
    assert told == []
    assert calls.close() == 1
    assert told == [{"n": 2}]


def test_waiting_ends_when_the_last_call_is_there(told: list[Any]) -> None:
    """Somebody who leaves waits as long as needed, and no longer."""
    calls = Deliveries(told.append)
    calls.began("a")
    late = threading.Timer(0.05, calls.delivered, ("a", {"n": 1}))
    late.start()
    calls.wait(120)
    late.join()
    assert told == [{"n": 1}]
    assert not calls.are_open
