"""The time of an event."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from stenograph import clock


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1_780_906_482_123_456_789, "2026-06-08T08:14:42.123456Z"),
        (1_780_906_482_000_000_999, "2026-06-08T08:14:42.000000Z"),
        (1_780_906_483_000_001_000, "2026-06-08T08:14:43.000001Z"),
        (1_780_906_482_999_999_999, "2026-06-08T08:14:42.999999Z"),
    ],
)
def test_now_is_utc_with_six_digits(nanoseconds: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the second before was, also when the clock goes back."""
    monkeypatch.setattr(clock.time, "time_ns", lambda: nanoseconds)
    assert clock.utc_now() == text
    monkeypatch.undo()
    assert datetime.fromisoformat(clock.utc_now()).tzinfo == UTC


def test_threads_never_mix_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remembered second is replaced whole: no time has the date of one second and the digits of another."""
    local = threading.local()
    monkeypatch.setattr(clock.time, "time_ns", lambda: local.now)
    wrong = []

    def ask(second: int) -> None:
        for _ in range(5_000):
            local.now = second * 1_000_000_000 + second * 1000
            if clock.utc_now() != f"1970-01-01T00:00:{second:02d}.{second:06d}Z":
                wrong.append(second)

    threads = [threading.Thread(target=ask, args=(second,)) for second in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
