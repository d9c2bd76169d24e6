"""What a person answered to the questions of an agent, from the result of the call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def answers_of(questions: Sequence[dict[str, Any]], output: Any) -> list[tuple[str, ...]]:
    """For each question the chosen or typed answers; none where the result does not have them.

    Results are JSON (`{"answers": …}`, by the question's id, its text or its place), or text with
    `"question"="answer"`.
    """
    document = _document(output)
    if document is not None:
        return [_by_key(document, question, place) for place, question in enumerate(questions)]
    words = output if isinstance(output, str) else ""
    return [_quoted(words, str(question.get("question", ""))) for question in questions]


def _document(output: Any) -> dict[str, Any] | None:
    value = output
    if isinstance(output, str) and output.lstrip().startswith("{"):
        try:
            value = json.loads(output)
        except (ValueError, RecursionError):
            return None
    answers = value.get("answers") if isinstance(value, dict) else None
    if isinstance(answers, list):
        return {str(place): each for place, each in enumerate(answers)}
    return answers if isinstance(answers, dict) else None


def _by_key(document: dict[str, Any], question: dict[str, Any], place: int) -> tuple[str, ...]:
    for key in (question.get("id"), question.get("question"), str(place)):
        if isinstance(key, str) and key in document:
            return _texts(document[key])
    return ()


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        return _texts(value.get("answers", value.get("answer")))
    if isinstance(value, list):
        return tuple(each for each in value if isinstance(each, str))
    return (value,) if isinstance(value, str) else ()


def _quoted(words: str, question: str) -> tuple[str, ...]:
    sign = f'"{question}"="'
    at = words.find(sign) if question else -1
    if at < 0:
        return ()
    begin = at + len(sign)
    ends = [end for mark in ('", "', '". ', '"\n') if (end := words.find(mark, begin)) >= 0]
    end = min(ends) if ends else words.rfind('"')
    return (words[begin:end],) if end > begin else ()
