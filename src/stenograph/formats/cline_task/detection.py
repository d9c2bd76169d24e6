"""Which files are conversations of a task, and which task it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import LIKELY, SURE, Identity
from stenograph.formats.shared.loose import a_dict, a_list, a_str, dicts

NAME, SIDE_FILE = "api_conversation_history.json", "ui_messages.json"
_MARKS = ("<environment_details>", "<task>")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by the file's name; likely by what the extension adds to the first message."""
    messages = records[0] if isinstance(records[0], list) else records
    if not messages or not all(a_dict(each).get("role") in ("user", "assistant") for each in messages):
        return 0
    if path.rpartition("/")[2] == NAME:
        return SURE
    first = a_dict(messages[0]).get("content")
    texts = [first] if isinstance(first, str) else [a_str(part.get("text")) for part in dicts(a_list(first))]
    return LIKELY + 10 if any(mark in text for text in texts for mark in _MARKS) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The task is the folder of the file."""
    *folders, name = path.split("/")
    task = folders[-1] if name == NAME and folders else ""
    return Identity(native_id=task, session_id=task or None)
