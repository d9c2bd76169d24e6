"""Messages of the Agent Client Protocol.

A recorder's wrapper may say direction and time (`{"t"|"ts", "dir", "msg"|"line"}`, the message as JSON or as its line,
seen by the client); a plain line is judged by its method.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.shared.jsonrpc import Key, RpcMessage, rpc_message
from stenograph.model.codec import REFUSALS

_BY_CLIENT = {"c2a": True, "out": True, "client": True, "a2c": False, "in": False, "agent": False}
_AGENT_METHODS = ("session/update", "session/request_permission", "fs/", "terminal/", "elicitation/")
_WHOLE_SECONDS = 100_000_000_000
"""A clock above this counts milliseconds."""


def message_of(record: Any) -> RpcMessage | None:
    """The message in a record; None when it is not one."""
    if not isinstance(record, dict):
        return None
    if "method" in record or "jsonrpc" in record:
        return rpc_message(record, _is_from_client)
    inner = record.get("msg", record.get("line"))
    if isinstance(inner, str):
        try:
            inner = msgspec.json.decode(inner)
        except (*REFUSALS, UnicodeEncodeError):
            return None
    message = rpc_message(inner, _is_from_client) if isinstance(inner, dict) else None
    if message is not None:
        direction = record.get("dir")
        if isinstance(direction, str) and direction in _BY_CLIENT:
            message.from_client = _BY_CLIENT[direction]
        _set_time(message, record.get("t", record.get("ts")))
    return message


def _is_from_client(method: str, key: Key) -> bool:
    return not method.startswith(_AGENT_METHODS)


def _set_time(message: RpcMessage, clock: Any) -> None:
    """A recorder's clock: text as it is, numbers as seconds or milliseconds since 1970."""
    if isinstance(clock, str):
        message.clock = clock or None
    elif isinstance(clock, int | float) and not isinstance(clock, bool) and 0 <= clock < _WHOLE_SECONDS * 1000:
        message.milliseconds = round(clock if clock >= _WHOLE_SECONDS else clock * 1000)
