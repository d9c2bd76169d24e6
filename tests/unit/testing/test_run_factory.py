"""Runs for tests, in a few words."""

from __future__ import annotations

from stenograph.fold.calls import pair_calls
from stenograph.fold.exchange import exchange
from stenograph.fold.totals import totals_of
from stenograph.testing import answer, call, make_run


def test_a_run_in_a_few_words() -> None:
    """Prompts, answers, calls with their results, usage: as a recorder would have written them."""
    events = make_run(
        "Count.",
        answer("I look.", call("Bash", {"command": "ls"}, "a b"), call("Read", {}, None), thinking="Hm."),
        answer("Two.", call("Bash", {"command": "x"}, "no", error="exit 1")),
        cwd="/work",
    )
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert (events[0].type, events[-1].type) == ("run.started", "run.completed")
    pairs = pair_calls(events)
    assert [(pair.name, pair.error, pair.result is None) for pair in pairs] == [
        ("Bash", None, False),
        ("Read", None, True),
        ("Bash", "exit 1", False),
    ]
    totals = totals_of(events)
    assert (totals.turns, totals.tool_calls, totals.failed_calls, totals.open_calls) == (1, 3, 1, 1)
    assert [len(turn.calls) for turn in exchange(events).main.turns] == [0, 2, 1]


def test_equal_words_are_equal_runs() -> None:
    """Nothing is drawn or read from a clock."""
    assert make_run("Count.", answer("Two.")) == make_run("Count.", answer("Two."))
    assert make_run("Count.", answer("Two."))[0].run_id != make_run("Count.", answer("Three."))[0].run_id
