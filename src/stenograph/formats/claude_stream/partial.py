"""A message while it is being streamed: its joined deltas, until a whole line repeats it."""

from __future__ import annotations

from typing import Any

import msgspec

from stenograph.formats.claude_code.content import block_of
from stenograph.formats.claude_code.record import ClaudeMessage, Usage
from stenograph.formats.shared.loose import string
from stenograph.model.block import Block
from stenograph.model.codec import REFUSALS
from stenograph.model.event import Origin

_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
"""The field with the piece, by the type of delta."""

_NONE = object()


class Partial:
    """The blocks of one streamed message, by their index."""

    def __init__(self) -> None:
        self.message_id: str | None = None
        self.model: str | None = None
        self.stop_reason: str | None = None
        self.place: Origin | None = None
        """The line of the latest piece."""
        self._started: dict[Any, dict[str, Any]] = {}
        self._pieces: dict[Any, list[str]] = {}
        self._signatures: dict[Any, str] = {}
        self._usage: dict[str, Any] = {}

    def take(self, event: dict[str, Any], place: Origin | None) -> None:
        """One event of the API's stream."""
        kind = event.get("type")
        if kind in ("content_block_start", "content_block_delta"):
            self.place = place
        index = event.get("index") if isinstance(event.get("index"), int) else None
        if kind == "message_start" and isinstance(message := event.get("message"), dict):
            self.message_id = string(message.get("id"))
            self.model = string(message.get("model"))
            self._add_usage(message.get("usage"))
        elif kind == "content_block_start" and isinstance(block := event.get("content_block"), dict):
            self._started[index] = block
            self._pieces[index] = []
        elif kind == "content_block_delta" and isinstance(delta := event.get("delta"), dict):
            self._add_piece(index, delta)
        elif kind == "message_delta":
            if isinstance(delta := event.get("delta"), dict):
                self.stop_reason = string(delta.get("stop_reason"))
            self._add_usage(event.get("usage"))

    def _add_piece(self, index: Any, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        field = _DELTAS.get(kind) if isinstance(kind, str) else None
        piece = delta.get(field) if field is not None else None
        if not isinstance(piece, str):
            return  # citations and the like are not content
        if field == "signature":
            self._signatures[index] = self._signatures.get(index, "") + piece
            return
        if index not in self._started:  # the stream was cut at its beginning
            self._started[index] = {"type": "tool_use" if field == "partial_json" else field}
            self._pieces[index] = []
        self._pieces[index].append(piece)

    def _add_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage.update({key: value for key, value in usage.items() if value is not None})

    def usage(self) -> Usage | None:
        """The tokens so far: those of the start, unless later counts replace them."""
        return msgspec.convert(self._usage, Usage) if self._usage else None

    def drop(self, message: ClaudeMessage) -> None:
        """Drop what a whole line repeats."""
        if message.id is not None and self.message_id is not None and message.id != self.message_id:
            return
        for item in message.content if isinstance(message.content, list) else [message.content]:
            block = {"type": "text", "text": item} if isinstance(item, str) else item
            index = next((each for each in self._started if self._is_part_of(each, block)), _NONE)
            if index is not _NONE:
                del self._started[index], self._pieces[index]

    def _is_part_of(self, index: Any, whole: Any) -> bool:
        """Whether a whole block repeats the one that was streamed at an index."""
        if not isinstance(whole, dict):
            return False
        block = self._started[index]
        kind = block.get("type")
        if kind != whole.get("type"):
            return False
        if kind in ("text", "thinking"):
            return str(whole.get(kind)).startswith("".join(self._pieces[index]))
        return block.get("id") in (None, whole.get("id"))

    def blocks(self) -> list[Block]:
        """The blocks that no whole line has repeated, in order."""
        found = []
        for index, block in self._started.items():
            pieces = "".join(self._pieces[index])
            kind = block.get("type")
            if kind in ("text", "thinking"):
                pieces = str(block.get(kind) or "") + pieces
                signed = {"signature": self._signatures[index]} if index in self._signatures else {}
                if pieces or signed:
                    found.append(block_of({**block, kind: pieces, **signed}))
            elif pieces or not block.get("input"):
                found.append(block_of({**block, "input": _input(pieces)}))
            else:
                found.append(block_of(block))
        return found


def _input(text: str) -> Any:
    """The input of a call; the text itself when it was cut off."""
    try:
        return msgspec.json.decode(text or "{}")
    except (*REFUSALS, UnicodeEncodeError):
        return text
