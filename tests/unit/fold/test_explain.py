"""An explanation by values: what failed and was retried, what changed, what filled the context."""

from __future__ import annotations

from typing import Any

from stenograph.fold.explain import Explaining, Explanation, explain
from stenograph.fold.prices import Prices
from stenograph.fold.status import NOT_KNOWN
from stenograph.model import ErrorPayload, Event, MessagePayload, Origin, TextBlock, ToolPayload, UsagePayload

RUN_ID = "550e8400-e29b-41d4-a716-446655440000"


def _events(*payloads: tuple[str, Any]) -> list[Event]:
    return [
        Event(
            seq=seq,
            run_id=RUN_ID,
            type=kind,
            path="",
            iteration=0,
            timestamp=f"2026-06-08T08:00:{seq:02}.000000Z",
            origin=Origin(adapter="claude_code"),
            payload=payload,
        )
        for seq, (kind, payload) in enumerate(payloads, 1)
    ]


def _said(role: str, text: str) -> tuple[str, MessagePayload]:
    return f"message.{role}", MessagePayload(role=role, blocks=(TextBlock(fidelity="agent_emitted", text=text),))


def _call(number: int, name: str, **given: Any) -> tuple[str, ToolPayload]:
    return "tool.call", ToolPayload(name=name, call_id=f"c{number}", input=given, output=None, fidelity="agent_emitted")


def _result(number: int, output: str = "", error: str | None = None) -> tuple[str, ToolPayload]:
    return "tool.result", ToolPayload(
        name="", call_id=f"c{number}", input=None, output=output, error=error, fidelity="agent_emitted"
    )


def _explained(*payloads: tuple[str, Any]) -> Explanation:
    return explain(_events(*payloads), Prices({}, "2026-01-01"), NOT_KNOWN)


def test_what_was_asked_and_how_it_ended() -> None:
    """Each prompt with its turn, and the last words of the main agent."""
    told = _explained(_said("user", "one"), _said("assistant", "yes"), _said("user", "two"), _said("assistant", "done"))
    assert [(turn.number, turn.prompt, turn.answer) for turn in told.turns] == [(1, "one", "yes"), (2, "two", "done")]
    assert told.answer == "done"
    assert told.verdict is not None


def test_what_failed_and_was_retried() -> None:
    """Calls of one tool on one target are one failure, with how often it failed and where it worked at last."""
    told = _explained(
        _call(1, "Bash", command="make"), _result(1, error="no rule"),
        _call(2, "Bash", command="make"), _result(2, error="no rule again"),
        _call(3, "Bash", command="ls"), _result(3, "a"),
        _call(4, "Bash", command="make"), _result(4, "built"),
        _call(5, "Read", file_path="/x"), _result(5, error="not there"),
    )  # fmt: skip
    assert [(each.seq, each.name, each.target, each.times, each.fixed_at) for each in told.failures] == [
        (1, "Bash", "make", 2, 7),
        (9, "Read", "/x", 1, None),
    ]
    assert told.failures[0].error == "no rule"


def test_what_changed() -> None:
    """Lines of each file, by calls that did not fail."""
    told = _explained(
        _call(1, "Edit", file_path="/a.py", old_string="x", new_string="y\nz"), _result(1, "ok"),
        _call(2, "Edit", file_path="/a.py", old_string="y", new_string=""), _result(2, "ok"),
        _call(3, "Edit", file_path="/b.py", old_string="x", new_string="y"), _result(3, error="not found"),
    )  # fmt: skip
    (file,) = told.files
    assert (file.path, file.changes, file.added, file.removed, file.kinds) == ("/a.py", 2, 2, 2, ("edit",))


def test_where_time_went_and_what_filled_the_context() -> None:
    """Seconds between call and result by tool, and characters by what they were."""
    told = _explained(
        _said("user", "12345"),
        _call(1, "Bash", command="ls"), _result(1, "x" * 1000),
        _call(2, "Read", file_path="/x"), _said("assistant", "abc"), _result(2, "y" * 10),
        ("token.usage", UsagePayload(scope="call", input_tokens=700, output_tokens=1, message_id="m")),
    )  # fmt: skip
    assert [(tool.name, tool.duration_ms) for tool in told.tools] == [("Read", 2000.0), ("Bash", 1000.0)]
    filling = {each.what: each.chars for each in told.context}
    assert filling["results of Bash"] == 1000
    assert filling["results of Read"] == 10
    assert (filling["prompts"], filling["answers"]) == (5, 3)
    assert told.context[0].what == "results of Bash"
    assert told.largest_input == 700


def test_errors_are_told_in_their_turn() -> None:
    """Error events count as the totals count them."""
    told = _explained(_said("user", "one"), ("error", ErrorPayload(message="overloaded")))
    assert [(each.seq, each.message) for each in told.errors] == [(2, "overloaded")]
    assert told.turns[0].errors == told.totals.errors == 1


def test_asking_again_gives_the_same_facts() -> None:
    """What filled the context is not added up with each question."""
    explaining = Explaining()
    for event in _events(_said("user", "one"), _call(1, "Bash", command="make"), _result(1, "made")):
        explaining.add(event)
    assert explaining.explanation(None, None) == explaining.explanation(None, None)
