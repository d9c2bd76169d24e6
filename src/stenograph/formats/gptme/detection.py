"""Which files are conversations of gptme, and what they say about their run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import LIKELY, SURE, Identity
from stenograph.formats.layout import folder_of, last_name
from stenograph.formats.shared.loose import a_dict, a_str, first_str

FILE = "conversation.jsonl"
_BRANCHES, _VIEWS = "branches", "views"
_ROLES = ("system", "user", "assistant", "tool")
_FIELDS = frozenset(
    {"role", "content", "timestamp", "files", "file_hashes", "pinned", "hide", "ui_only", "ephemeral_ttl", "call_id",
     "metadata"}
)  # fmt: skip
_OWN_FIELDS = frozenset({"pinned", "hide", "ui_only", "metadata"})
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?([+-]\d\d:\d\d)?")
_PROMPT = re.compile(r"\AYou are gptme(?: v(\S+?))?,")
_MODEL = re.compile(r"Currently using model: (\S+)")
_FOLDER = re.compile(r"^\*\*Working Directory:\*\* (.+)$", re.MULTILINE)


def is_message(record: Any) -> bool:
    """Whether a record is a message as gptme writes it."""
    message = a_dict(record)
    return (
        message.get("role") in _ROLES
        and isinstance(message.get("content"), str)
        and _TIME.fullmatch(a_str(message.get("timestamp"))) is not None
    )


def detect(records: Sequence[Any], path: str) -> int:
    """Sure by its prompt; likely by its name, and by fields that only it has. A compacted view is a copy."""
    messages = [record for record in records if is_message(record)]
    if len(messages) * 2 <= len(records) or last_name(folder_of(path)) == _VIEWS:
        return 0
    if any(_PROMPT.match(message["content"]) for message in messages):
        return SURE
    if len(messages) < len(records) or any(message.keys() - _FIELDS for message in messages):
        return 0
    is_named = last_name(path) == FILE
    return LIKELY if is_named or any(_OWN_FIELDS & message.keys() for message in messages) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The conversation by its folder; working folder, model and version are in the prompts."""
    messages = [record for record in records if is_message(record)]
    prompts = [record["content"] for record in messages if record["role"] == "system"]
    answers = (a_dict(record.get("metadata")) for record in messages if record["role"] == "assistant")
    model = next((name for each in answers if (name := first_str(each, "served_model", "model"))), None)
    name = _conversation(path)
    return Identity(
        native_id=name,
        session_id=name or None,
        cwd=_found(_FOLDER, prompts),
        agent_version=_found(_PROMPT, prompts),
        model=model or _found(_MODEL, prompts),
    )


def _conversation(path: str) -> str:
    folder = folder_of(path)
    if last_name(folder) == _BRANCHES:
        return last_name(folder_of(folder))
    return last_name(folder) if last_name(path) == FILE and "/" in path else ""


def _found(pattern: re.Pattern[str], texts: list[str]) -> str | None:
    return next((match[1] for text in texts if (match := pattern.search(text)) and match[1]), None)
