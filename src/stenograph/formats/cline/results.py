"""Results of Cline's tools: an answer for each question that a call asked, or a text with JSON in it."""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_list, a_str


def outcome_of(part: dict[str, Any]) -> tuple[Any, str | None]:
    """The output of a call, and its error where one of its questions failed.

    The answer to a single question is the output; several are kept as they are.
    """
    content = arguments_of(part.get("content"))
    answers = a_list(content) or [content]
    if not all(isinstance(each, dict) and "success" in each for each in answers):
        text = content if isinstance(content, str) else ""
        return content, (text or "failed") if part.get("is_error") is True else None
    errors = [a_str(each.get("error")) or "failed" for each in answers if each["success"] is False]
    return answers[0].get("result") if len(answers) == 1 else content, "\n".join(errors) or None
