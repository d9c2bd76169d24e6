"""Which files are plain chats, and what identifies them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import POSSIBLE, Identity
from stenograph.formats.chat_json.shape import facts_of, id_of, turns_of
from stenograph.formats.layout import Contents, StoredSession
from stenograph.formats.shared.collection import run_in
from stenograph.formats.shared.loose import first_str
from stenograph.formats.shared.session_fields import SESSION_FIELDS

_LEAST = POSSIBLE // 2
"""A low score: any other format that claims a file wins."""
_NOT_A_CHAT = SESSION_FIELDS | {"turnId", "generationStatus"}
"""Fields of session files of agents."""


def detect(records: Sequence[Any], path: str) -> int:
    """Possible when every record is a chat, or when the records are the turns of one."""
    inside = (each for record in records for each in (record if isinstance(record, list) else [record]))
    if any(isinstance(each, dict) and _NOT_A_CHAT & each.keys() for each in inside):
        return 0
    return _LEAST if turns_of(list(records)) or all(turns_of(record) for record in records) else 0


def identify(records: Sequence[Any], path: str) -> Identity:
    """The first chat."""
    return _identity(records[0]) if records else Identity()


def _identity(chat: Any) -> Identity:
    return Identity(native_id=id_of(chat), model=first_str(facts_of(chat), "model"))


def chats_in(contents: Contents) -> list[StoredSession]:
    """Every chat of a file: a list of chats, a chat on each line, or one."""
    value = contents.read(contents.names[0])
    chats = value if isinstance(value, list) and not turns_of(value) else [value]
    return [run_in(_identity(chat), chat) for chat in chats]
