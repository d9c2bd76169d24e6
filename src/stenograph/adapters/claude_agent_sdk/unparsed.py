"""Claude's lines without parsing their content, for a collector that is configured so."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from stenograph.formats.base import LineFormat


class _Envelope(Struct):
    """The fields that are read of an unparsed line."""

    type: Any = None
    timestamp: Any = None


_EVENT_TYPES = {
    "user": "message.user",
    "assistant": "message.assistant",
    "thinking": "message.assistant",
    "tool_use": "tool.call",
    "tool_result": "tool.result",
}
_decode_envelope = msgspec.json.Decoder(_Envelope).decode


class Unparsed(LineFormat):
    """Events with only the type and time of lines; the content is in their raw text."""

    name = "claude_code"

    def _decode(self, line: bytes) -> Any:
        return _decode_envelope(line)

    def _convert(self, value: Any) -> Any:
        return _Envelope(value.get("type"), value.get("timestamp")) if isinstance(value, dict) else _Envelope()

    def _map(self, record: _Envelope) -> None:
        self._place(record.timestamp)
        kind = record.type if isinstance(record.type, str) else ""
        self._emit(_EVENT_TYPES.get(kind, "system.event" if kind else "unknown"), None)
