"""Messages of the protocol: requests, responses and notifications, and who sent them.

The protocol itself never says the direction, so a plain line is judged by its method. Lines of a recording that keeps
both directions may be wrapped (`{"dir": "in"|"out"|"exit", "proc": n, "t": seconds, "msg": {…}}`, seen by the client).
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct

from stenograph.formats.shared.loose import FAR, time_text

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
    process: Any = None
    """Which server process; request ids start again in each."""
    milliseconds: Any = None
    """When it was sent, since 1970; None where nothing says so."""
    exit: Any = UNSET
    """What a recording says about the end of the server process."""

    @property
    def time(self) -> str | None:
        """When it was sent, as events have it."""
        return time_text(self.milliseconds)


def message_of(record: Any) -> Message | None:
    """The message in a record; None when it is none."""
    if not isinstance(record, dict):
        return None
    direction, inner = record.get("dir"), record.get("msg")
    if inner is None or "method" in record or not isinstance(direction, str):
        return _bare(record)
    return seen_message(inner, direction, record.get("proc"), record.get("t"))


def seen_message(value: Any, direction: str, process: Any, seconds: Any) -> Message | None:
    """The message in a value that was seen going in a direction; None when it is none."""
    if direction == "exit" and value is not None:
        return Message(exit=value, process=_key(process), milliseconds=_milliseconds(seconds))
    message = _bare(value) if isinstance(value, dict) and direction in _DIRECTIONS else None
    if message is not None:
        message.from_client = _DIRECTIONS[direction]
        message.process = _key(process)
        if message.time is None:
            message.milliseconds = _milliseconds(seconds)
    return message


def _bare(value: dict[str, Any]) -> Message | None:
    method, key, params = value.get("method"), _key(value.get("id")), value.get("params")
    if isinstance(method, str) and method:
        params = params if isinstance(params, dict) else {}
        return Message(
            method=method,
            id=key,
            params=params,
            from_client=_is_from_client(method, key),
            milliseconds=sent_at(value.get("emittedAtMs"), params),
        )
    if key is None or not ("result" in value or "error" in value):
        return None
    return Message(id=key, result=value.get("result", UNSET), error=value.get("error", UNSET))


def _is_from_client(method: str, id: int | str | None) -> bool:
    if id is None:
        return method in _CLIENT_NOTIFICATIONS
    return method not in _SERVER_REQUESTS and not method.endswith("/requestApproval")


def sent_at(emitted: Any, params: dict[str, Any]) -> Any:
    """When a message was sent: 0.166 says so, 0.144 tells when an item started or completed, older ones say nothing."""
    if emitted is not None:
        return emitted
    completed = params.get("completedAtMs")
    return params.get("startedAtMs") if completed is None else completed


def _key(value: Any) -> int | str | None:
    return value if isinstance(value, int | str) else None


def _milliseconds(seconds: Any) -> int | None:
    is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < FAR
    return round(seconds * 1000) if is_time else None
