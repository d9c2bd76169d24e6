"""Streamed messages of the Messages API, assembled until `message_stop`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stenograph.formats.shared.arguments import arguments_of
from stenograph.formats.shared.loose import a_dict, a_list, a_str

EVENTS = (
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "ping",
)
_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


class MessageStream:
    """The message that is under way."""

    def __init__(self, emit: Callable[[dict[str, Any]], None]) -> None:
        self._emit = emit
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, _Block] = {}

    def take(self, event: dict[str, Any]) -> None:
        """Add an event; the stop event emits the message."""
        kind = event.get("type")
        if kind == "message_start":
            self.flush()
            self._message = dict(a_dict(event.get("message")))
        elif kind == "content_block_start":
            self._blocks[_index(event)] = _Block(a_dict(event.get("content_block")))
        elif kind == "content_block_delta":
            # A capture may begin in the middle of a block.
            delta = a_dict(event.get("delta"))
            self._blocks.setdefault(_index(event), _Block(_begun(delta))).add(delta)
        elif kind == "message_delta":
            self._finish_with(event)
        elif kind == "message_stop":
            self.flush()

    def flush(self) -> None:
        """Emit the message as far as it was received."""
        if self._message is None and not self._blocks:
            return
        message, self._message = self._message or {}, None
        blocks, self._blocks = self._blocks, {}
        content = [blocks[index].whole() for index in sorted(blocks)]
        self._emit({"role": "assistant", **message, "content": [*a_list(message.get("content")), *content]})

    def _finish_with(self, event: dict[str, Any]) -> None:
        """The end's usage replaces the start's, count by count; a count that is null stays as it was."""
        message = self._message = self._message or {}
        for name, value in a_dict(event.get("delta")).items():
            if value is not None:
                message[name] = value
        usage = {name: value for name, value in a_dict(event.get("usage")).items() if value is not None}
        message["usage"] = {**a_dict(message.get("usage")), **usage}


class _Block:
    """A content block that is being streamed."""

    def __init__(self, start: dict[str, Any]) -> None:
        self._start = start
        self._pieces: dict[str, list[str]] = {}

    def add(self, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        name = _DELTAS.get(kind) if isinstance(kind, str) else None
        if name is not None and a_str(delta.get(name)):
            self._pieces.setdefault(name, []).append(delta[name])

    def whole(self) -> dict[str, Any]:
        """The block as in an answer that was not streamed."""
        block = dict(self._start)
        for name, pieces in self._pieces.items():
            if name == "partial_json":
                block["input"] = arguments_of("".join(pieces))
            else:
                block[name] = a_str(block.get(name)) + "".join(pieces)
        return block


def _index(event: dict[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _begun(delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": _BEGUN.get(a_str(delta.get("type")), "text")}


_BEGUN = {"thinking_delta": "thinking", "signature_delta": "thinking", "input_json_delta": "tool_use"}
