"""Messages that Claude Code writes again: some resumes copy the beginning of a session into the same file.

The copies keep uuid, time and message; `parentUuid`, `slug`, `promptId`, `version` and `gitBranch` may differ.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.claude_code.message import message_of
from stenograph.formats.claude_code.record import SessionRecord
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import string
from stenograph.model.ids import is_unique

_SPOKEN = ("user", "assistant")
_encode = msgspec.json.Encoder().encode


def spoken_key(record: SessionRecord) -> int | None:
    """What identifies a message in its file: uuid, time, type and content. None where nothing does."""
    uuid = string(record.uuid)
    if uuid is None or not is_unique(uuid):  # redacted files have the same one everywhere
        return None
    if record.type in _SPOKEN:
        content = message_of(record).content
    elif record.attachment is not None and record.attachment.type == "queued_command":
        content = record.attachment.prompt
    else:
        return None
    return digest_of("message", _bytes([uuid, record.timestamp, record.type, content]))


def _bytes(value: Any) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:  # a lone surrogate
        return repr(value).encode("utf-8", "backslashreplace")
