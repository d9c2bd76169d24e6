"""Which files are chat files, which session each belongs to, and which call spawned a subagent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.gemini_cli.content import calls_of
from stenograph.formats.shared.gemini_parts import texts_of
from stenograph.formats.shared.loose import a_dict, dicts, first_in_records, first_str

_SUBAGENT_FILE = re.compile(r"(?:^|[/\\])chats[/\\](?P<session>[^/\\]+)[/\\](?P<agent>[^/\\]+)\.jsonl$")
_WORKSPACE = re.compile(
    r"(?:\*\*Workspace Directories:\*\*\s*-|working in the (?:following directories:\s*-|directory:))\s*([^\n]+)"
)
"""The first folder of the context that every session begins with."""
_TYPES = ("user", "gemini", "info", "error", "warning")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of the header of a chat file, or of records that only Gemini CLI writes."""
    return SURE if any(isinstance(record, dict) and _is_chat(record) for record in records) else 0


def _is_chat(record: dict[str, Any]) -> bool:
    if _is_header(record):
        return "projectHash" in record or isinstance(record.get("messages"), list)
    if isinstance(patch := record.get("$set"), dict):
        return bool(patch.keys() & {"lastUpdated", "messages", "summary", "memoryScratchpad"})
    is_message = isinstance(record.get("id"), str) and "timestamp" in record and "content" in record
    return is_message and record.get("type") == "gemini"


def _is_header(record: dict[str, Any]) -> bool:
    return "sessionId" in record and "startTime" in record and "lastUpdated" in record and "id" not in record


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by its header; a subagent's file takes the session from the folder it is in."""
    header = next((record for record in records if isinstance(record, dict) and _is_header(record)), {})
    session_id = first_str(header, "sessionId") or ""
    place = _SUBAGENT_FILE.search(path)
    messages = [message for record in records for message in _messages_in(record)]
    cwd, model = (
        _workspace(messages),
        first_in_records((each for each in messages if each.get("type") == "gemini"), "model"),
    )
    if header.get("kind") == "subagent" or (place is not None and not session_id):
        agent_id = session_id or (place["agent"] if place else "")
        owner = place["session"] if place else session_id
        return Identity(native_id=owner, session_id=owner, source=f"subagent:{agent_id}", cwd=cwd, model=model)
    return Identity(native_id=session_id, session_id=session_id or None, cwd=cwd, model=model)


def _workspace(messages: list[dict[str, Any]]) -> str | None:
    """The working folder, which the CLI writes into the first user message."""
    texts = (texts_of(message.get("content")) for message in messages if message.get("type") == "user")
    found = next((found for text in texts if (found := _WORKSPACE.search(text)) is not None), None)
    return None if found is None else found[1].strip()


def _messages_in(record: Any) -> list[dict[str, Any]]:
    record = a_dict(record)
    inside = a_dict(record.get("$set")).get("messages") or record.get("messages")
    return [record] if inside is None else dicts(inside)


def agent_links(record: Any) -> Iterator[tuple[str, str]]:
    """The subagents that a record's calls spawned, each with the id of its call."""
    if isinstance(record, dict) and isinstance(record.get("toolCalls"), list):
        for call_id, call in calls_of(record):
            if (agent_id := first_str(call, "agentId")) is not None:
                yield agent_id, call_id
