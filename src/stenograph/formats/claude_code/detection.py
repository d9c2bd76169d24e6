"""Which files are sessions of Claude Code, and which session or subagent each belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.claude_code.line import LINE_TYPES
from stenograph.formats.shared.loose import a_dict, first_in_records, string
from stenograph.model.payload import SYNTHETIC

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT_FILE = re.compile(r"agent-(.+)\.jsonl")
_IFLOW_SESSION = re.compile(r"session-[0-9a-f]{8}-")


def detect(records: Sequence[Any], path: str) -> int:
    """Sure of lines of a session file; the stream of `claude -p` and Claude's imitators are not."""
    found = [record for record in records if isinstance(record, dict)]
    is_at_home = _HOME.search(path) is not None
    is_ours = any(_is_session_line(each, is_at_home) for each in found) and not any(map(_is_foreign, found))
    return SURE if is_ours else 0


def _is_session_line(record: dict[str, Any], is_at_home: bool) -> bool:
    """Whether a record is a line of a session. Flat records are common JSON: they need a time, a session or a place."""
    kind = record.get("type")
    is_placed = is_at_home or not _PLACING.isdisjoint(record)
    if kind in ("user", "assistant"):
        message = record.get("message")
        return isinstance(message, dict | list | str) or (message is None and is_at_home and "content" in record)
    if kind == "tool_result":
        return "tool_use_id" in record and is_placed
    if kind == "tool_use":
        return "input" in record and ("id" in record or "tool_use_id" in record) and is_placed
    if kind == "thinking":
        return isinstance(record.get("thinking") or record.get("content"), str) and is_placed
    if kind == "summary":
        return "leafUuid" in record or "dropped_count" in record
    if kind == "attachment":
        return isinstance(record.get("attachment"), dict)
    if kind == "system":
        return "sessionId" in record and "uuid" in record
    return isinstance(kind, str) and kind in LINE_TYPES and ("sessionId" in record or "snapshot" in record)


_HOME = re.compile(r"[/\\]\.claude[/\\]projects[/\\]")
_PLACING = {"timestamp", "sessionId", "session_id", "uuid"}


def _is_foreign(record: dict[str, Any]) -> bool:
    """Whether a record is one that Claude Code never writes to a session file."""
    message = record.get("message")
    if isinstance(message, dict) and "parts" in message:  # Qwen Code
        return True
    if "providerData" in record or "systemPayload" in record or "fidelity" in record:  # CodeBuddy, Qwen Code, blocks
        return True
    session_id = record.get("sessionId")
    if isinstance(session_id, str):
        return _IFLOW_SESSION.match(session_id) is not None
    # The stream spells it session_id, and has it on nearly every line.
    is_flat = message is None and "content" in record and "subtype" not in record
    is_streamed = "session_id" in record and record.get("type") in _STREAM_TYPES and not is_flat
    return "parent_tool_use_id" in record or is_streamed


_STREAM_TYPES = ("system", "assistant", "user", "result", "stream_event")


def identify(records: Sequence[Any], path: str) -> Identity:
    """The session by the file's name, else by its lines; and the subagent, when it is the file of one."""
    lines = [record for record in records if isinstance(record, dict)]
    folders, name = _split(path)
    stem = name.removesuffix(".jsonl")
    session_id = next((each for record in lines for each in _session_ids(record)), "")
    agent_id = _agent_id(name, lines)
    if agent_id is not None:
        owners = [owner for owner, folder in pairwise(folders) if folder == "subagents" and _UUID.fullmatch(owner)]
        session_id = owners[-1] if owners else session_id
    elif _UUID.fullmatch(stem):
        session_id = stem
    return Identity(
        native_id=session_id,
        session_id=session_id or None,
        source="main" if agent_id is None else f"subagent:{agent_id}",
        cwd=first_in_records(lines, "cwd"),
        branch=first_in_records(lines, "gitBranch"),
        agent_version=first_in_records(lines, "version"),
        model=_model(lines),
    )


def _model(lines: list[dict[str, Any]]) -> str | None:
    """The first model that answers; the harness's own name is not a model."""
    answers = (a_dict(line.get("message")) for line in lines if line.get("type") == "assistant")
    models = (string(answer.get("model")) for answer in answers)
    return next((model for model in models if model is not None and model != SYNTHETIC), None)


def _split(path: str) -> tuple[list[str], str]:
    *folders, name = re.split(r"[/\\]", path)
    return folders, name


def _session_ids(record: dict[str, Any]) -> list[str]:
    return [value for key in ("sessionId", "session_id") if isinstance(value := record.get(key), str) and value]


def _agent_id(name: str, lines: list[dict[str, Any]]) -> str | None:
    """The subagent by the file's name, else by its first message: only a subagent's file begins with a sidechain."""
    first = next((line for line in lines if "isSidechain" in line), {})
    inside = string(first.get("agentId")) if first.get("isSidechain") is True else None
    named = _AGENT_FILE.fullmatch(name)
    return inside if named is None else named.group(1)
