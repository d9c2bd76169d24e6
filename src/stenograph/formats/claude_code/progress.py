"""Subagents in `progress` lines: Claude Code 2.1.12 to 2.1.81 repeats there what a subagent says and does.

A subagent's own file holds the same. If it has one, these lines are only signs of progress; if they came first, the
records of the file are recognized by the keys of those in the lines.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.claude_code.message import message_of
from stenograph.formats.claude_code.record import Progress, SessionRecord, record_from
from stenograph.formats.shared.digest import digest_of
from stenograph.formats.shared.loose import string

_SPOKEN = ("user", "assistant")
_encode = msgspec.json.Encoder(order="deterministic").encode


def subagent_record(record: SessionRecord) -> tuple[str, SessionRecord] | None:
    """The source of a subagent and its record in a progress line; None when the line holds none."""
    data = record.data
    if not isinstance(data, Progress) or data.type != "agent_progress":
        return None
    agent_id, inner = string(data.agent_id), record_from(data.message, SessionRecord)
    if agent_id is None or inner is None or inner.type not in _SPOKEN or inner.message is None:
        return None
    inner.timestamp = inner.timestamp or record.timestamp
    return f"subagent:{agent_id}", inner


def record_keys(record: SessionRecord) -> list[int]:
    """What identifies a subagent's record in both files: its uuid, its results' calls, its message's text."""
    if record.type not in _SPOKEN:
        return []
    message = message_of(record)
    uuid, message_id = string(record.uuid), string(message.id)
    keys = [] if uuid is None else [digest_of("uuid", uuid)]
    if record.type == "assistant" and message_id is not None:
        keys.append(digest_of("said", f"{message_id}\n{_words(message.content)}"))
    for item in message.content if isinstance(message.content, list) else ():
        call_id = string(item.get("tool_use_id")) if isinstance(item, dict) else None
        if call_id is not None:
            keys.append(digest_of("result", call_id))
    return keys


def _words(content: Any) -> str:
    try:
        return _encode(content).decode()
    except UnicodeEncodeError:  # a lone surrogate
        return repr(content)
