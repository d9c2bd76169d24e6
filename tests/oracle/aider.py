"""Counts a history of Aider by its lines, on purpose naively. Knows nothing of stenograph.

A line that begins with `> ` and ends with two blanks is the program's; so is what follows a `> ` without them, up to a
line with them, unless another mark comes first. A line that begins with `#### ` is the user's. The rest is the model's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_MARKED = re.compile(r"^> (?:(?!^> |^#### |^# aider chat)[\s\S])*?  $", re.MULTILINE)
_USER = re.compile(r"(?:^#### .*  \n?)+", re.MULTILINE)
_THOUGHT = re.compile(r"-+\n► \*\*THINKING\*\*\n([\s\S]*?)\n-+\n► \*\*ANSWER\*\*\n")


def count(path: Path) -> dict[str, Any]:
    """What one file holds."""
    text = Path(path).read_text("utf-8")
    people = len(_USER.findall(text))
    rest = _MARKED.sub("\0", _USER.sub("\0\n", re.sub(r"^# aider chat started at .*$", "\0", text, flags=re.MULTILINE)))
    answers = [answer.strip("\n") for answer in rest.split("\0") if answer.strip()]
    thoughts = [thought.strip("\n") for answer in answers for thought in _THOUGHT.findall(answer)]
    said = [_THOUGHT.sub("", answer).strip("\n") for answer in answers]
    return {
        "tool_uses": [],
        "tool_results": [],
        "text": "".join(said),
        "thinking": "".join(thoughts),
        "messages": {"user": people, "assistant": len(answers)},
    }
