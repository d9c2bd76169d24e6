"""Messages of protocols over JSON-RPC: requests, responses and notifications, who sent them and when.

Such a protocol says neither direction nor time. A recording of both directions may wrap each message with them; a plain
message is judged by its method, which each protocol does by rules of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, Struct

from stenograph.formats.shared.loose import time_text

Key = int | str | None
IsFromClient = Callable[[str, Key], bool]
"""Whether the client sends a request or notification of this method; `None` is the key of a notification."""


class RpcMessage(Struct, gc=False):
    """One message, out of its wrapper."""

    method: str = ""
    """Empty on a response."""
    id: Key = None
    """Set on requests and responses."""
    params: dict[str, Any] = {}
    result: Any = UNSET
    error: Any = UNSET
    from_client: bool | None = None
    """None on a response without a wrapper: only its request shows it."""
    process: Any = None
    """Which server process; request ids start again in each."""
    milliseconds: Any = None
    """When it was sent, since 1970; None when unknown."""
    clock: str | None = None
    """When it was sent, if the recording has it as text."""
    exit: Any = UNSET
    """What a recording says about the end of the server process."""

    @property
    def time(self) -> str | None:
        """When it was sent, as events have it."""
        return self.clock or time_text(self.milliseconds)


def rpc_message(value: dict[str, Any], is_from_client: IsFromClient) -> RpcMessage | None:
    """A message without a wrapper; None when the value is not one."""
    method, key, params = value.get("method"), key_of(value.get("id")), value.get("params")
    if isinstance(method, str) and method:
        params = params if isinstance(params, dict) else {}
        return RpcMessage(method, key, params, from_client=is_from_client(method, key))
    if key is None or not ("result" in value or "error" in value):
        return None
    return RpcMessage(id=key, result=value.get("result", UNSET), error=value.get("error", UNSET))


def key_of(value: Any) -> Key:
    """The id of a request; None when it is not valid."""
    return value if isinstance(value, int | str) else None
