"""Which files are ChatGPT's exports, and what a conversation's head says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.layout import Contents, StoredSession
from stenograph.formats.shared.collection import run_in
from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str

_MEMBER = "conversations"
"""Exports have `conversations.json`; large ones `conversations-000.json` and so on."""


def is_conversation(record: Any) -> bool:
    """Whether a record is a conversation: a mapping of nodes, each with its message and its children."""
    mapping = a_dict(record).get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        return False
    return all(isinstance(node, dict) and "message" in node and "parent" in node for node in mapping.values())


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
    native_id = a_str(conversation.get("conversation_id")) or a_str(conversation.get("id"))
    return Identity(
        native_id=native_id, session_id=native_id or None, model=first_str(conversation, "default_model_slug")
    )


def conversations_in(contents: Contents) -> list[StoredSession]:
    """Every conversation of an export, in the order of the file."""
    names = contents.names if contents.names == ("",) else _members(contents)
    found: list[dict[str, Any]] = []
    for name in names:
        value = contents.read(name)
        found += dicts(value if isinstance(value, list) else [value])
    return [run_in(conversation_identity(each), each) for each in found]


def _members(contents: Contents) -> list[str]:
    return sorted(name for name in contents.names if name.rpartition("/")[2].startswith(_MEMBER))
