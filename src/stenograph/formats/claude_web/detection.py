"""Which files are exports of claude.ai, and what a conversation's head says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.layout import Contents, StoredSession
from stenograph.formats.shared.collection import run_in
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str

_MEMBER = "conversations.json"


def is_conversation(record: Any) -> bool:
    """Whether a record is a conversation of claude.ai."""
    conversation = a_dict(record)
    messages = conversation.get("chat_messages")
    if not isinstance(messages, list) or not isinstance(conversation.get("uuid"), str):
        return False
    return all(isinstance(each, dict) and "sender" in each for each in messages)


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of a conversation, and of a ZIP with a file of them."""
    first = a_dict(records[0])
    found = records[1:] if first.get("container") == "zip" else records[:1]
    return SURE if found and is_conversation(found[0]) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The run is the first conversation."""
    return next((conversation_identity(each) for each in dicts(list(records)) if is_conversation(each)), Identity())


def conversation_identity(conversation: dict[str, Any]) -> Identity:
    """A conversation by its own id."""
    native_id = a_str(conversation.get("uuid"))
    return Identity(native_id=native_id, session_id=native_id or None, model=first_str(conversation, "model"))


def conversations_in(contents: Contents) -> list[StoredSession]:
    """Every conversation of an export, in the order of the file."""
    names = contents.names if contents.names == ("",) else [_MEMBER] if _MEMBER in contents.names else []
    found: list[dict[str, Any]] = []
    for name in names:
        value = contents.read(name)
        found += dicts(value if isinstance(value, list) else [value])
    return [run_in(conversation_identity(each), each) for each in found]
