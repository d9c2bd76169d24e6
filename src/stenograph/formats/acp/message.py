"""Messages of the Agent Client Protocol: requests, responses and notifications, who sent them and when.

The protocol itself says neither direction nor time. A recorder's wrapper may (`{"t"|"ts", "dir", "msg"|"line"}`, the
message as JSON or as its line, seen by the client); a plain line is judged by its method.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct

from stenograph.formats.shared.loose import time_text
from stenograph.model.codec import REFUSALS

_BY_CLIENT = {"c2a": True, "out": True, "client": True, "a2c": False, "in": False, "agent": False}
_AGENT_METHODS = ("session/update", "session/request_permission", "fs/", "terminal/", "elicitation/")
_WHOLE_SECONDS = 100_000_000_000
"""Above this a number of a clock counts milliseconds."""


class Message(Struct, gc=False):
    """One message, out of its wrapper."""

    method: str = ""
    """Empty on a response."""
    id: int | str | None = None
    """Set on requests and responses."""
    params: dict[str, Any] = {}
    result: Any = UNSET
    error: Any = UNSET
    from_client: bool | None = None
    """None on a response that stands without a wrapper: only the request tells."""
    time: str | None = None


def message_of(record: Any) -> Message | None:
    """The message in a record; None when it is none."""
    if not isinstance(record, dict):
        return None
    if "method" in record or "jsonrpc" in record:
        return _bare(record)
    inner = record.get("msg", record.get("line"))
    if isinstance(inner, str):
        try:
            inner = msgspec.json.decode(inner)
        except (*REFUSALS, UnicodeEncodeError):
            return None
    message = _bare(inner) if isinstance(inner, dict) else None
    if message is not None:
        direction = record.get("dir")
        if isinstance(direction, str) and direction in _BY_CLIENT:
            message.from_client = _BY_CLIENT[direction]
        message.time = _time(record.get("t", record.get("ts")))
    return message


def _bare(value: dict[str, Any]) -> Message | None:
    method, key, params = value.get("method"), value.get("id"), value.get("params")
    key = key if isinstance(key, int | str) else None
    if isinstance(method, str) and method:
        by_client = not method.startswith(_AGENT_METHODS)
        return Message(method, key, params if isinstance(params, dict) else {}, from_client=by_client)
    if key is None or not ("result" in value or "error" in value):
        return None
    return Message(id=key, result=value.get("result", UNSET), error=value.get("error", UNSET))


def _time(clock: Any) -> str | None:
    """A recorder's clock as events have it: text as it is, numbers as seconds or milliseconds since 1970."""
    if isinstance(clock, str):
        return clock or None
    if not isinstance(clock, int | float) or isinstance(clock, bool) or not 0 <= clock < _WHOLE_SECONDS * 1000:
        return None
    return time_text(round(clock if clock >= _WHOLE_SECONDS else clock * 1000))
