"""Which files hold this protocol, and which session they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.acp.message import message_of
from stenograph.formats.base import SURE, Identity
from stenograph.formats.shared.jsonrpc import RpcMessage
from stenograph.formats.shared.loose import a_dict, first_in_records


def detect(records: Sequence[Any], path: str) -> int:
    """The score when every record is a message and at least one can only belong to this protocol."""
    messages = [message_of(record) for record in records]
    is_ours = None not in messages and any(_is_ours(message) for message in messages if message is not None)
    return SURE if is_ours else 0


def _is_ours(message: RpcMessage) -> bool:
    params = message.params
    match message.method:
        case "session/update":
            return isinstance(update := params.get("update"), dict) and "sessionUpdate" in update
        case "session/prompt":
            return isinstance(params.get("prompt"), list)
        case "session/request_permission":
            return isinstance(params.get("toolCall"), dict)
        case "initialize":  # MCP begins alike, but its protocol version is a date
            return isinstance(params.get("protocolVersion"), int)
    return isinstance(message.result, dict) and "agentCapabilities" in message.result


def identify(records: Sequence[Any], path: str) -> Identity:
    """The first session that the records name is the run; sessions that appear later are runs of their own."""
    for record in records:
        message = message_of(record)
        session_id = None if message is None else session_id_of(message)
        if session_id is not None:
            return Identity(
                native_id=session_id, session_id=session_id, cwd=_cwd(records), agent_version=_version(records)
            )
    return Identity()


def _cwd(records: Sequence[Any]) -> str | None:
    """The folder that the client asked the session to work in."""
    found = [
        message.params for each in records if (message := message_of(each)) and message.method.startswith("session/")
    ]
    return first_in_records(found, "cwd")


def _version(records: Sequence[Any]) -> str | None:
    found = [a_dict(message.result) for each in records if (message := message_of(each)) is not None]
    return first_in_records((result.get("agentInfo") for result in found), "version")


def session_id_of(message: RpcMessage) -> str | None:
    """The session that a message names."""
    result = message.result if isinstance(message.result, dict) else {}
    for found in (message.params.get("sessionId"), result.get("sessionId")):
        if isinstance(found, str) and found:
            return found
    return None
