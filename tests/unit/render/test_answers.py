"""What a person answered to a question, as each agent tells it."""

from __future__ import annotations

from typing import Any

import pytest

from stenograph.render.answers import answers_of

QUESTIONS = [{"id": "q1", "question": "Which colour?"}, {"id": "q2", "question": "How many?"}]


@pytest.mark.parametrize(
    ("output", "answers"),
    [
        ('{"answers":{"q1":{"answers":["Red"]},"q2":{"answers":["1","2"]}}}', [("Red",), ("1", "2")]),
        ('{"answers":{"0":"Red","1":"two"}}', [("Red",), ("two",)]),
        ({"answers": {"Which colour?": "Red"}}, [("Red",), ()]),
        ({"answers": ["Red", "two"]}, [("Red",), ("two",)]),
        (
            'User has answered your questions: "Which colour?"="Red", "How many?"="two, or three". You can go on.',
            [("Red",), ("two, or three",)],
        ),
        ('"How many?"="two"', [(), ("two",)]),
        ("The user does not want to answer", [(), ()]),
        ("{", [(), ()]),
        ('{"answers": 3}', [(), ()]),
        (None, [(), ()]),
    ],
)
def test_answers_are_found(output: Any, answers: list[tuple[str, ...]]) -> None:
    """By id, by text, by place, or in words; where nothing is told, there is none."""
    assert answers_of(QUESTIONS, output) == answers
