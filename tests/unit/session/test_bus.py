"""Bus: who hears what, and what happens when one of them fails."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import pytest

from stenograph.session import Bus


@dataclass(frozen=True)
class Said:
    text: str


@dataclass(frozen=True)
class Shouted(Said):
    pass


def test_a_subscriber_hears_its_type_and_what_derives_from_it() -> None:
    """Nothing else, and everything for `object`; in the order of subscribing."""
    bus = Bus()
    heard: list[tuple[str, object]] = []
    bus.subscribe(Said, lambda value: heard.append(("said", value)))
    bus.subscribe(Shouted, lambda value: heard.append(("shouted", value)))
    bus.subscribe(object, lambda value: heard.append(("all", value)))
    for value in (Said("a"), Shouted("b"), 5):
        bus.publish(value)
    assert heard == [
        ("said", Said("a")),
        ("all", Said("a")),
        ("said", Shouted("b")),
        ("shouted", Shouted("b")),
        ("all", Shouted("b")),
        ("all", 5),
    ]


def test_unsubscribing_ends_one_subscription() -> None:
    """The same function may listen twice; ending one leaves the other, and ending it again does nothing."""
    bus = Bus()
    heard: list[object] = []
    first = bus.subscribe(Said, heard.append)
    bus.subscribe(Said, heard.append)
    first()
    first()
    bus.publish(Said("a"))
    assert heard == [Said("a")]


def test_a_subscriber_may_unsubscribe_while_it_is_called() -> None:
    """Those after it are still called for that value."""
    bus = Bus()
    heard: list[str] = []

    def once(value: Said) -> None:
        heard.append(f"once {value.text}")
        end()

    end = bus.subscribe(Said, once)
    bus.subscribe(Said, lambda value: heard.append(value.text))
    bus.publish(Said("a"))
    bus.publish(Said("b"))
    assert heard == ["once a", "a", "b"]


def test_failures_are_counted_each_and_told_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    """A subscriber that always fails costs one traceback per second, another one has its own."""
    bus = Bus()
    bus.subscribe(Said, lambda value: 1 / 0)
    bus.subscribe(Said, lambda value: [][0])
    for _ in range(50):
        bus.publish(Said("a"))
    assert bus.failed == 100
    told = [record.exc_info[0] for record in caplog.records if record.exc_info]
    assert {ZeroDivisionError, IndexError} == set(told)
    assert len(told) < 20
    assert "failed on a Said" in caplog.text


def test_a_log_handler_that_fails_disturbs_nobody() -> None:
    """The host's handlers are called when a failure is told, and theirs is not passed on either."""

    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError

    handler = Broken()
    log = logging.getLogger("stenograph.session")
    log.addHandler(handler)
    try:
        bus = Bus()
        heard: list[object] = []
        bus.subscribe(Said, lambda value: 1 / 0)
        bus.subscribe(Said, heard.append)
        bus.publish(Said("a"))
    finally:
        log.removeHandler(handler)
    assert (heard, bus.failed) == ([Said("a")], 1)
