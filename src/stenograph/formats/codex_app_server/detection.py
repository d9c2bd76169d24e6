"""Which files hold this protocol, and which thread they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stenograph.formats.base import SURE, Identity
from stenograph.formats.codex_app_server.message import message_of
from stenograph.formats.shared.jsonrpc import RpcMessage
from stenograph.formats.shared.loose import a_dict, first_str

_OURS = ("thread/", "turn/", "item/", "codex/event/", "rawResponse", "remoteControl/")
"""Methods that no other protocol of this shape (MCP, ACP, LSP) has."""


def detect(records: Sequence[Any], path: str) -> int:
    """The score when every record is a message and at least one can only be Codex's."""
    messages = [message_of(record) for record in records]
    is_ours = None not in messages and any(_is_ours(message) for message in messages if message is not None)
    return SURE if is_ours else 0


def _is_ours(message: RpcMessage) -> bool:
    if message.method:
        return message.method.startswith(_OURS)
    return isinstance(message.result, dict) and isinstance(message.result.get("userAgent"), str)


def identify(records: Sequence[Any], path: str) -> Identity:
    """The first thread that the records name is the run; threads that appear later are runs of their own."""
    for record in records:
        message = message_of(record)
        thread_id = None if message is None else thread_id_of(message)
        if message is not None and thread_id is not None:
            thread, result = thread_object_of(message), a_dict(message.result)
            return Identity(
                native_id=thread_id,
                session_id=thread_id,
                parent_native_id=parent_of(thread),
                cwd=first_str(thread, "cwd") or first_str(result, "cwd"),
                branch=first_str(a_dict(thread.get("gitInfo")), "branch"),
                agent_version=first_str(thread, "cliVersion"),
                model=first_str(thread, "model") or first_str(result, "model"),
            )
    return Identity()


def thread_id_of(message: RpcMessage) -> str | None:
    """The thread that a message names."""
    params = message.params
    for found in (params.get("threadId"), thread_object_of(message).get("id"), params.get("conversationId")):
        if isinstance(found, str) and found:
            return found
    return None


def thread_object_of(message: RpcMessage) -> dict[str, Any]:
    """The description of a thread that a message carries; empty when it has none."""
    result = message.result if isinstance(message.result, dict) else {}
    thread = message.params.get("thread") or result.get("thread")
    return thread if isinstance(thread, dict) else {}


def parent_of(thread: dict[str, Any]) -> str | None:
    """The thread that spawned this one."""
    parent = thread.get("parentThreadId")
    return parent if isinstance(parent, str) and parent else None
