"""Streamed chat answers: deltas are joined until the choice they belong to is finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stenograph.formats.shared.loose import a_dict, a_str, dicts, first_str

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_LISTS = ("content", "thinking_blocks", "reasoning_details", "images")
_THOUGHTS = ("thinking_blocks", "reasoning_details")
_PIECES = ("thinking", "text", "summary", "data")
"""Fields of a part of reasoning that arrive piece by piece."""


class ChatStreams:
    """The streams that are under way, by the id of their answer."""

    def __init__(
        self,
        emit_choice: Callable[[dict[str, Any], dict[str, Any], int], None],
        emit_usage: Callable[[dict[str, Any]], None],
    ) -> None:
        self._emit_choice = emit_choice
        self._emit_usage = emit_usage
        self._streams: dict[str, _Stream] = {}

    def take(self, chunk: dict[str, Any]) -> None:
        """Add a chunk; a finish reason completes its choice, and usage that comes alone is emitted at once."""
        key = a_str(chunk.get("id"))
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream()
        stream.add(chunk)
        if stream.is_mid_text:
            return
        for number in stream.finished():
            self._emit_choice(stream.body, stream.choice(number), number)
        if stream.is_done:
            del self._streams[key]
            self._emit_usage(stream.body)

    def flush(self) -> None:
        """Emit every stream as far as it was received."""
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            for number in stream.open():
                self._emit_choice(stream.body, stream.choice(number), number)
            self._emit_usage(stream.body)


class _Stream:
    """One streamed answer."""

    def __init__(self) -> None:
        self.body: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}

    @property
    def is_mid_text(self) -> bool:
        """Whether its only choice is in the middle of its text: a fast check for most chunks."""
        choice = self._choices.get(0)
        return choice is not None and choice.finish is None and choice.has_words and len(self._choices) == 1

    @property
    def is_done(self) -> bool:
        """Whether no choice waits for its finish; the first and last chunk of a stream have no content."""
        return all(choice.is_emitted or not choice.has_words for choice in self._choices.values())

    def add(self, chunk: dict[str, Any]) -> None:
        for name in ("id", "model", "usage", "service_tier"):
            if chunk.get(name):
                self.body[name] = chunk[name]
        for choice in dicts(chunk.get("choices")):
            index = choice.get("index")
            number = index if isinstance(index, int) else 0
            if number not in self._choices:
                self._choices[number] = _Choice()
            self._choices[number].add(choice)

    def finished(self) -> list[int]:
        return [number for number, choice in self._choices.items() if choice.finish and not choice.is_emitted]

    def open(self) -> list[int]:
        return [number for number, choice in self._choices.items() if choice.has_words and not choice.is_emitted]

    def choice(self, number: int) -> dict[str, Any]:
        return self._choices[number].whole(number)


class _Choice:
    """One of the answers in a stream."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self.is_emitted = False
        self._texts: dict[str, list[str]] = {name: [] for name in _TEXTS}
        self._calls: list[_Call] = []
        self._function: _Call | None = None
        self._more: dict[str, Any] = {}

    @property
    def has_words(self) -> bool:
        return any(self._texts.values()) or bool(self._calls or self._function or self._more)

    def add(self, choice: dict[str, Any]) -> None:
        delta = a_dict(choice.get("delta"))
        if "text" in choice:  # old text completions
            delta = {"content": choice["text"]}
        for name, value in delta.items():  # a stream is mostly chunks of one short text
            if not value:
                continue
            if isinstance(value, str):
                if name in self._texts:
                    self._texts[name].append(value)
            elif name == "tool_calls":
                for call in dicts(value):
                    self._add_call(call)
            elif name in _LISTS:
                if isinstance(value, list):
                    add = _add_thoughts if name in _THOUGHTS else list.extend
                    add(self._more.setdefault(name, []), value)
            elif name == "function_call" and isinstance(value, dict):
                self._function = self._function or _Call(None)
                self._function.add(value)
        self.finish = first_str(choice, "finish_reason") or self.finish

    def _add_call(self, delta: dict[str, Any]) -> None:
        """Deltas of one call share its index; a new id under the same index is a new call."""
        index, call_id = delta.get("index"), first_str(delta, "id")
        for call in reversed(self._calls):
            if call.index == index and (call_id is None or call.id in (None, call_id)):
                break
        else:
            call = _Call(index)
            self._calls.append(call)
        call.id = call.id or call_id
        call.is_custom = call.is_custom or isinstance(delta.get("custom"), dict)
        call.add(a_dict(delta.get("function")) or a_dict(delta.get("custom")))

    def whole(self, index: int) -> dict[str, Any]:
        """The choice as in an answer that was not streamed."""
        self.is_emitted = True
        message: dict[str, Any] = {"role": "assistant", **self._more}
        for name, texts in self._texts.items():
            if texts:
                message[name] = "".join(texts) if name not in message else [*message[name], "".join(texts)]
        if self._calls:
            message["tool_calls"] = [
                {"id": call.id, "custom" if call.is_custom else "function": call.whole()} for call in self._calls
            ]
        if self._function is not None:
            message["function_call"] = self._function.whole()
        return {"index": index, "message": message, "finish_reason": self.finish}


def _add_thoughts(parts: list[Any], pieces: list[Any]) -> None:
    """Add pieces of reasoning to the parts so far: a piece continues the last part until that is signed."""
    for piece in pieces:
        last = parts[-1] if parts else None
        if not (isinstance(piece, dict) and isinstance(last, dict) and _continues(last, piece)):
            parts.append(piece)
            continue
        joined = {name: a_str(last.get(name)) + a_str(piece.get(name)) for name in _PIECES if piece.get(name)}
        others = {name: value for name, value in piece.items() if value is not None and name not in _PIECES}
        parts[-1] = {**last, **others, **joined}


def _continues(last: dict[str, Any], piece: dict[str, Any]) -> bool:
    is_same = all(last.get(name) == piece.get(name) for name in ("type", "index"))
    return is_same and not last.get("signature") and piece.get("type") != "redacted_thinking"


class _Call:
    """A tool call that is being streamed: the name once, the arguments piece by piece (or whole, as an object)."""

    def __init__(self, index: Any) -> None:
        self.index = index
        self.id: str | None = None
        self.is_custom = False
        self._name: str | None = None
        self._pieces: list[str] = []
        self._object: dict[str, Any] | None = None

    def add(self, delta: dict[str, Any]) -> None:
        self._name = self._name or first_str(delta, "name")
        for piece in (delta.get("arguments"), delta.get("input")):
            if isinstance(piece, str):
                self._pieces.append(piece)
            elif isinstance(piece, dict):
                self._object = piece

    def whole(self) -> dict[str, Any]:
        return {"name": self._name, "arguments": self._object if self._object is not None else "".join(self._pieces)}
