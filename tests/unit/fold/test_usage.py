"""Tokens are counted once."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from stenograph.fold.usage import Usage, usage_totals
from stenograph.model import Event, Origin, UsagePayload
from stenograph.model.ids import is_unique

ANSWER = "msg_01R62tkBvD4mQxLw8ZyN5cHa"
WRITTEN = {"cache_creation_input_tokens": 1, "cache_creation_1h_input_tokens": 1}
NOON, LATER = "2026-11-17T12:00:00.000Z", "2026-11-17T13:00:00.000Z"


def used(input_tokens: int, output_tokens: int, message_id: str | None = None, **more: Any) -> Event:
    run_id, scope, timestamp = more.pop("run_id", "r"), more.pop("scope", "call"), more.pop("timestamp", "")
    payload = UsagePayload(
        scope=scope, input_tokens=input_tokens, output_tokens=output_tokens, message_id=message_id, **more
    )
    return Event(seq=1, run_id=run_id, type="token.usage", path="", iteration=0, timestamp=timestamp, payload=payload)


def total(*events: Event) -> tuple[int, int]:
    usage = usage_totals(events).total
    return usage.input_tokens, usage.output_tokens


def test_the_last_report_of_a_call_counts() -> None:
    """An agent tells a call's usage first half-way and then at its end."""
    assert total(used(10, 1, "m1"), used(10, 7, "m1"), used(20, 5, "m2")) == (30, 12)


def test_a_last_report_that_is_smaller_counts_too() -> None:
    """Claude Code with another backend tells 27,693 in and 0 out first, then what the call really took."""
    assert total(used(27_693, 0, "m1"), used(26_158, 116, "m1")) == (26_158, 116)


def test_forks_and_replays_do_not_count_again() -> None:
    """An id that is unique by itself is the call's, whichever run repeats it, and whatever time it gives the copy."""
    copy = used(10, 5, ANSWER, run_id="fork", timestamp=LATER)
    assert total(used(10, 5, ANSWER, timestamp=NOON), copy, used(1, 1, "m2", run_id="fork")) == (11, 6)


def test_an_id_that_others_may_have_too_is_believed_inside_its_run() -> None:
    """Ollama numbers its answers from 0 to 998, in every session."""
    first = used(10, 5, "chatcmpl-17", timestamp=NOON)
    assert total(first, used(10, 6, "chatcmpl-17", timestamp=NOON, run_id="other")) == (20, 11)
    assert total(first, used(10, 5, "chatcmpl-17", timestamp=LATER, run_id="other")) == (20, 10)
    assert total(first, used(10, 6, "chatcmpl-17", timestamp=LATER)) == (10, 6)


def test_a_copy_with_time_and_numbers_is_the_same_call() -> None:
    """A fork copies lines; also a call that is reported twice is copied as one."""
    told = [used(10, 1, "msg_1", timestamp=NOON), used(10, 5, "msg_1", timestamp=LATER)]
    copies = [replace(event, run_id="fork") for event in told]
    assert total(*told, *copies) == total(*copies, *told) == total(told[0], copies[0], told[1], copies[1]) == (10, 5)


def test_times_that_we_gave_prove_nothing() -> None:
    """A source without times, read twice at one moment, has no more than its ids."""
    given = [
        replace(used(10, 5, "msg_1", timestamp=NOON, run_id=run_id), origin=Origin(time="given"))
        for run_id in ("one", "other")
    ]
    assert total(*given) == (20, 10)


@pytest.mark.parametrize(
    ("id", "is_known"),
    [
        (ANSWER, True),
        ("resp_0a1b2c3d4e5f60718293a4b5c6d7e8f9", True),
        ("chatcmpl-CZx7L3s0dKzE1rQ9bVnYt2uWfJh4p", True),
        ("01a1e0a1-5c66-7640-8747-71fe34507e0c:1050", True),
        ("chatcmpl-998", False),
        ("resp_0045", False),
        ("REDACTED", False),
        ("chatcmpl-00000000000000000000000000000017", False),
        ("00000000-0000-4000-8000-000000000001", False),
        ("msg_scripted_answer_of_the_test_1", False),
        ("", False),
    ],
)
def test_an_id_is_unique_by_its_shape(id: str, is_known: bool) -> None:
    """A UUID or a random word, not a number, however long it is written, and not words of a language."""
    assert is_unique(id) is is_known


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
    events = [used(10, 5, ANSWER, scope="turn"), used(10, 5, ANSWER, scope="turn", run_id="fork")]
    assert total(*events) == (10, 5)


def test_models_are_kept_apart_and_details_summed() -> None:
    """Cached and reasoning tokens are parts of input and output, not additions to them."""
    totals = usage_totals(
        [
            used(10, 5, "m1", model="a", cache_read_input_tokens=4, **WRITTEN),
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
            cache_creation_1h_input_tokens=1,
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
