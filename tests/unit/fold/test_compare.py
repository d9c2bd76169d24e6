"""Two runs compared by values: what is aligned, and what each kind of difference is called."""

from __future__ import annotations

from typing import Any

from stenograph.fold.compare import Comparison, compare
from stenograph.fold.explain import explained
from stenograph.fold.prices import Prices
from stenograph.model import Event, MessagePayload, Origin, TextBlock, ToolPayload

Fact = tuple[str, Any]


def _events(run: int, facts: list[Fact]) -> list[Event]:
    return [
        Event(
            seq=seq,
            run_id=f"550e8400-e29b-41d4-a716-44665544000{run}",
            type=kind,
            path="",
            iteration=0,
            timestamp=f"2026-06-08T08:00:{seq % 60:02}.000000Z",
            origin=Origin(adapter="claude_code"),
            payload=payload,
        )
        for seq, (kind, payload) in enumerate(facts, 1)
    ]


def _said(role: str, text: str) -> Fact:
    return f"message.{role}", MessagePayload(role=role, blocks=(TextBlock(fidelity="router", text=text),))


def _call(number: int, output: str, name: str = "Bash", **given: Any) -> list[Fact]:
    call = ToolPayload(name=name, call_id=f"c{number}", input=given, output=None, fidelity="router")
    result = ToolPayload(name="", call_id=f"c{number}", input=None, output=output, fidelity="router")
    return [("tool.call", call), ("tool.result", result)]


def _compared(left: list[Fact], right: list[Fact]) -> Comparison:
    prices = Prices({}, "2026-01-01")
    return compare(explained(_events(1, left), prices), explained(_events(2, right), prices))


def test_calls_are_the_same_changed_or_only_here() -> None:
    """By tool and input first; another result, another input of the same tool, and what only one run has."""
    left = [
        _said("user", "go"),
        *_call(1, "a", command="ls"),
        *_call(2, "x", command="make"),
        *_call(3, "1", command="pytest -q"),
        *_call(4, "r", "Read", file_path="/a"),
    ]
    right = [
        _said("user", "go"),
        *_call(8, "a", command="ls"),
        *_call(9, "y", command="make"),
        *_call(10, "1", command="pytest -x"),
        *_call(11, "w", "Write", file_path="/b", content="b\n"),
    ]
    told = _compared(left, right)
    assert [(call.what, call.name, call.left_seq, call.right_seq) for call in told.calls] == [
        ("same", "Bash", 2, 2),
        ("changed_result", "Bash", 4, 4),
        ("changed_input", "Bash", 6, 6),
        ("only_left", "Read", 8, None),
        ("only_right", "Write", None, 8),
    ]
    assert [(file.path, file.what) for file in told.files] == [("/b", "only_right")]
    assert not told.is_same


def test_turns_are_aligned_by_their_prompts() -> None:
    """A turn that only one run has does not shift the others; what lies between equal ones is a changed prompt."""
    left = [_said("user", "one"), _said("user", "two"), _said("user", "three")]
    right = [_said("user", "zero"), _said("user", "one"), _said("user", "2"), _said("user", "three")]
    told = _compared(left, right)
    shown = [(turn.prompt, turn.left and turn.left.prompt, turn.right and turn.right.prompt) for turn in told.turns]
    assert shown == [
        ("only_right", None, "zero"),
        ("same", "one", "one"),
        ("changed", "two", "2"),
        ("same", "three", "three"),
    ]


def test_a_difference_behind_what_is_shown_is_a_difference() -> None:
    """Texts are cut for showing, not for comparing; so are changes of files."""
    long = "x" * 5_000
    assert not _compared([_said("user", f"{long}1")], [_said("user", f"{long}2")]).is_same
    told = _compared([_said("assistant", f"{long}1")], [_said("assistant", f"{long}2")])
    assert told.turns[0].answer == "changed"
    left = _call(1, "ok", "Edit", file_path="/a", old_string="a", new_string="b")
    right = _call(1, "ok", "Edit", file_path="/a", old_string="a", new_string="c")
    assert [file.what for file in _compared(left, right).files] == ["changed"]


def test_many_calls_are_aligned_without_comparing_each_with_each() -> None:
    """Two runs of thousands of calls, one of which begins with another call."""
    left = [fact for number in range(2_000) for fact in _call(number, "x", command=f"echo {number % 7}")]
    told = _compared(left, [*_call(9_999, "x", command="ls"), *left])
    assert told.calls_by_kind["same"] == 2_000
    assert told.calls_by_kind["only_right"] == 1
