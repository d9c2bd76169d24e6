"""Tokens are counted once."""

from __future__ import annotations

from typing import Any

from stenograph.fold import Usage, usage_totals
from stenograph.model import Event, UsagePayload


def used(input_tokens: int, output_tokens: int, message_id: str | None = None, **more: Any) -> Event:
    run_id, scope = more.pop("run_id", "r"), more.pop("scope", "call")
    payload = UsagePayload(
        scope=scope, input_tokens=input_tokens, output_tokens=output_tokens, message_id=message_id, **more
    )
    return Event(seq=1, run_id=run_id, type="token.usage", path="", iteration=0, timestamp="t", payload=payload)


def total(*events: Event) -> tuple[int, int]:
    usage = usage_totals(events).total
    return usage.input_tokens, usage.output_tokens


def test_the_last_report_of_a_call_counts() -> None:
    """An agent tells a call's usage first half-way and then at its end."""
    assert total(used(10, 1, "m1"), used(10, 7, "m1"), used(20, 5, "m2")) == (30, 12)


def test_forks_and_replays_do_not_count_again() -> None:
    """The key is the call's own id, whichever run repeats it."""
    assert total(used(10, 5, "m1"), used(10, 5, "m1", run_id="fork"), used(1, 1, "m2", run_id="fork")) == (11, 6)


def test_reports_without_an_id_count_each() -> None:
    """Nothing says that they are the same."""
    assert total(used(10, 5), used(10, 5)) == (20, 10)


def test_turns_and_totals_stand_in_only_where_a_run_reports_no_calls() -> None:
    """A total repeats what the calls said; without calls the turns count, and without turns the last total."""
    assert total(used(10, 5, "m"), used(10, 5, scope="turn"), used(99, 99, scope="total")) == (10, 5)
    assert total(used(10, 5, scope="turn"), used(20, 5, scope="turn"), used(99, 99, scope="total")) == (30, 10)
    assert total(used(10, 5, scope="total"), used(30, 9, scope="total")) == (30, 9)


def test_every_run_falls_back_by_itself() -> None:
    """One run reports calls, another one only its total."""
    assert total(used(10, 5, "m"), used(100, 50, scope="total", run_id="other")) == (110, 55)


def test_turns_are_counted_once_by_their_id_too() -> None:
    """A forked run repeats its origin's turns."""
    events = [used(10, 5, "t1", scope="turn"), used(10, 5, "t1", scope="turn", run_id="fork")]
    assert total(*events) == (10, 5)


def test_models_are_kept_apart_and_details_summed() -> None:
    """Cached and reasoning tokens are parts of input and output, not additions to them."""
    totals = usage_totals(
        [
            used(10, 5, "m1", model="a", cache_read_input_tokens=4, cache_creation_input_tokens=1),
            used(10, 5, "m2", model="a", reasoning_output_tokens=2),
            used(1, 1, "m3"),
        ]
    )
    assert totals.by_model == {
        "a": Usage(
            input_tokens=20,
            output_tokens=10,
            cache_read_input_tokens=4,
            cache_creation_input_tokens=1,
            reasoning_output_tokens=2,
            records=2,
        ),
        "": Usage(input_tokens=1, output_tokens=1, records=1),
    }
    assert totals.total.records == 3
    assert totals.total.output_tokens == 11


def test_nothing_used_is_zero() -> None:
    """Other events and broken payloads count nothing."""
    broken = Event(seq=1, run_id="r", type="token.usage", path="", iteration=0, timestamp="t", payload={"scope": 1})
    assert usage_totals([broken]).total == Usage()
