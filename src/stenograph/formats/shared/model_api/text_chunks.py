"""Chunks of a streamed chat answer that hold nothing but text: by far the most, and fast to join."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from stenograph.model.codec import REFUSALS


class _Delta(Struct, forbid_unknown_fields=True):
    content: str


class _Choice(Struct, forbid_unknown_fields=True):
    delta: _Delta
    index: int = 0
    finish_reason: None = None
    logprobs: None = None


class _Chunk(Struct):
    id: str
    object: Literal["chat.completion.chunk"]
    choices: tuple[_Choice]
    model: str | None = None
    usage: None = None
    error: None = None


_decode = msgspec.json.Decoder(_Chunk).decode


class TextChunks:
    """Joins consecutive text chunks of one answer into one chunk."""

    def __init__(self) -> None:
        self._first: _Chunk | None = None
        self._words: list[str] = []
        self._waiting: list[dict[str, Any]] = []

    def take(self, data: str) -> bool:
        """Add a chunk; False when it is another kind of record, which comes after the chunks so far."""
        try:
            chunk = _decode(data)
        except (*REFUSALS, UnicodeEncodeError):
            return False
        choice, first = chunk.choices[0], self._first
        if first is not None and (chunk.id, chunk.model, choice.index) != (
            first.id,
            first.model,
            first.choices[0].index,
        ):
            self._close()
        self._first = self._first or chunk
        self._words.append(choice.delta.content)
        return True

    def joined(self) -> list[dict[str, Any]]:
        """The chunks so far as one; then start again."""
        self._close()
        joined, self._waiting = self._waiting, []
        return joined

    def _close(self) -> None:
        if self._first is not None:
            choice = {"index": self._first.choices[0].index, "delta": {"content": "".join(self._words)}}
            named = {} if self._first.model is None else {"model": self._first.model}
            self._waiting.append(
                {"id": self._first.id, "object": "chat.completion.chunk", **named, "choices": [choice]}
            )
            self._first, self._words = None, []
