"""The guard around our doors into somebody else's program."""

from __future__ import annotations

import logging

import pytest

from stenograph import guard as guard_module
from stenograph.guard import Guard


def fail() -> None:
    raise ValueError("broken")


def test_the_result_comes_through(lenient: None) -> None:
    """A guard changes nothing when nothing is wrong."""
    guard = Guard("run 1")
    assert guard.call("an event", lambda a, b: a + b, 1, b=2) == 3
    assert guard.lost == 0


def test_a_failure_is_logged_and_counted(lenient: None, caplog: pytest.LogCaptureFixture) -> None:
    """The host gets None; the log says what was lost and why."""
    guard = Guard("run 1")
    assert guard.call("an event", fail) is None
    assert guard.lost == 1
    assert [each.getMessage() for each in caplog.records] == [
        "run 1: an event was not recorded: broken (1 lost since the last message)"
    ]
    assert caplog.records[0].levelno == logging.ERROR
    assert caplog.records[0].name == "stenograph.guard"


def test_many_failures_are_told_once_a_second(
    lenient: None, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next word tells how many were lost since."""
    now = [100.0]
    monkeypatch.setattr(guard_module.time, "monotonic", lambda: now[0])
    guard = Guard("run 1")
    for _ in range(50):
        guard.call("an event", fail)
    now[0] += 1.5
    guard.call("an event", fail)
    assert guard.lost == 51
    assert [each.getMessage().rpartition("(")[2] for each in caplog.records] == [
        "1 lost since the last message)",
        "50 lost since the last message)",
    ]


def test_what_is_no_event_is_told_but_not_counted(lenient: None, caplog: pytest.LogCaptureFixture) -> None:
    """Opening, closing and subscribing lose nothing by themselves."""
    guard = Guard("run 1")
    assert guard.attempt("a subscription", fail) is None
    assert guard.lost == 0
    assert [each.getMessage() for each in caplog.records] == ["run 1: a subscription was not recorded: broken"]


def test_strict_raises() -> None:
    """As our own tests want it."""
    guard = Guard("run 1")
    with pytest.raises(ValueError, match="broken"):
        guard.call("an event", fail)
    with pytest.raises(ValueError, match="broken"):
        guard.attempt("an event", fail)
    assert guard.lost == 0


def test_only_one_means_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other value leaves the host in peace."""
    monkeypatch.setenv("STENOGRAPH_STRICT", "0")
    assert Guard("run 1").call("an event", fail) is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_not_ours_goes_through(lenient: None, error: type[BaseException]) -> None:
    """The user's Ctrl-C is no failure of ours."""

    def stop() -> None:
        raise error

    with pytest.raises(error):
        Guard("run 1").call("an event", stop)


def test_a_log_handler_that_fails_is_none_of_the_hosts_trouble(lenient: None) -> None:
    """Neither an exception in a handler nor one whose text fails reaches the host."""

    class Failing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise RuntimeError("handler")

    handler = Failing()
    logging.getLogger("stenograph.guard").addHandler(handler)
    try:
        guard = Guard("run 1")
        assert guard.call("an event", fail) is None
        assert guard.lost == 1
    finally:
        logging.getLogger("stenograph.guard").removeHandler(handler)
