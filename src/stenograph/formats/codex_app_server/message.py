"""Messages of the protocol, and who sent them.

A plain line is judged by its method. Lines of a recording that keeps both directions may be wrapped
(`{"dir": "in"|"out"|"exit", "proc": n, "t": seconds, "msg": {…}}`, seen by the client).
"""

from __future__ import annotations

from typing import Any

from stenograph.formats.shared.jsonrpc import Key, RpcMessage, key_of, rpc_message
from stenograph.formats.shared.loose import FAR

_SERVER_REQUESTS = {
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "item/tool/call",
    "item/tool/requestUserInput",
    "mcpServer/elicitation/request",
    "account/chatgptAuthTokens/refresh",
    "attestation/generate",
    "currentTime/read",
    "applyPatchApproval",
    "execCommandApproval",
}
_CLIENT_NOTIFICATIONS = {"initialized"}
_DIRECTIONS = {"in": False, "out": True}


def message_of(record: Any) -> RpcMessage | None:
    """The message in a record; None when it is not one."""
    if not isinstance(record, dict):
        return None
    direction, inner = record.get("dir"), record.get("msg")
    if inner is None or "method" in record or not isinstance(direction, str):
        return _bare(record)
    return seen_message(inner, direction, record.get("proc"), record.get("t"))


def seen_message(value: Any, direction: str, process: Any, seconds: Any) -> RpcMessage | None:
    """The message in a value that was sent in a direction; None when it is not a message."""
    if direction == "exit" and value is not None:
        return RpcMessage(exit=value, process=key_of(process), milliseconds=_milliseconds(seconds))
    message = _bare(value) if isinstance(value, dict) and direction in _DIRECTIONS else None
    if message is not None:
        message.from_client = _DIRECTIONS[direction]
        message.process = key_of(process)
        if message.time is None:
            message.milliseconds = _milliseconds(seconds)
    return message


def _bare(value: dict[str, Any]) -> RpcMessage | None:
    message = rpc_message(value, _is_from_client)
    if message is not None and message.method:
        message.milliseconds = sent_at(value.get("emittedAtMs"), message.params)
    return message


def _is_from_client(method: str, id: Key) -> bool:
    if id is None:
        return method in _CLIENT_NOTIFICATIONS
    return method not in _SERVER_REQUESTS and not method.endswith("/requestApproval")


def sent_at(emitted: Any, params: dict[str, Any]) -> Any:
    """When a message was sent: 0.166 says it, 0.144 says when an item started or completed, older versions do not."""
    if emitted is not None:
        return emitted
    completed = params.get("completedAtMs")
    return params.get("startedAtMs") if completed is None else completed


def _milliseconds(seconds: Any) -> int | None:
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < FAR
    return round(seconds * 1000) if is_time else None
