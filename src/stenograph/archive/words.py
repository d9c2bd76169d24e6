"""What of an event can be searched for, and how text is cut into words.

The tokenizer of the index knows letters and digits and takes everything else for a gap, so `snake_case`, `foo.bar()`
and `path/to/file.py` are words in a row already. Two things it cannot do are done here, for what is indexed and for
what is asked alike: characters of scripts without spaces stand alone, and the parts of CamelCase names are added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from stenograph.model.block import AttachmentBlock, Block, CommandBlock, TextBlock, ThinkingBlock, ToolResultBlock
from stenograph.model.event import Event
from stenograph.model.payload import (
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UnknownPayload,
    UsagePayload,
)

DEEPEST = 40
"""Values nested deeper than this are not searched."""
_LONE = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7a3"  # Hangul
    "\uff66-\uff9d"  # half-width kana
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
    "]"
)
# Possessive, and from the beginning of a word only: texts of one endless word must not take for ever.
_HUMP = re.compile(rb"(?<![A-Za-z0-9])(?:[A-Z]?[a-z0-9]++[A-Z]|[A-Z]{2,}+[a-z])[A-Za-z0-9]*+")
_PART = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[@-~]")
"""What terminals take for a colour or a move, and nobody searches for: letters at its end would join the next word."""
_LONGEST_NAME = 80
_MOST_PIECES = 1 << 15


def spaced(text: str) -> str:
    """The text with every character of a script without spaces standing alone."""
    return text if text.isascii() else _LONE.sub(r" \g<0> ", text)


def camel_parts(text: bytes) -> list[bytes]:
    """The CamelCase names in a text, taken apart, each once."""
    found = set(map(_humped.__getitem__, text.split()))
    found.discard(b"")
    return sorted(found)


class _Humped(dict[bytes, bytes]):
    """The parts of the names in a piece of text without space, which mostly has none; remembered for a while."""

    def __missing__(self, piece: bytes) -> bytes:
        names = (name for name in _HUMP.findall(piece) if len(name) <= _LONGEST_NAME)
        parts = b" ".join(part for name in names for part in _PART.findall(name))
        if len(piece) <= _LONGEST_NAME:
            if len(self) >= _MOST_PIECES:
                self.clear()
            self[piece] = parts
        return parts


_humped = _Humped()


def searchable(text: str) -> bytes:
    """The text as it is given to the index, in UTF-8: spaced, with the parts of its CamelCase names at the end."""
    data = spaced(text).encode()
    parts = camel_parts(data)
    return b"%b\n%b" % (data, b" ".join(parts)) if parts else data


def event_text(event: Event) -> str:
    """What a person reads of an event: what search looks at, and what snippets are cut from."""
    text = "\n".join(piece for piece in _pieces(event.payload) if piece)
    return _COLOUR.sub("", text) if "\x1b" in text else text


def _pieces(payload: Any) -> Iterator[str]:
    match payload:
        case MessagePayload():
            for block in payload.blocks:
                yield from _block(block)
        case ToolPayload():
            yield payload.name
            yield from _strings(payload.input)
            yield from _strings(payload.output)
            yield payload.error or ""
            for block in payload.blocks or ():
                yield from _block(block)
        case SystemPayload():
            yield payload.text or ""
            yield from _strings(payload.data)
        case ErrorPayload():
            yield payload.message
            yield payload.code or ""
        case LifecyclePayload():
            yield payload.name
            yield payload.error or ""
            yield from _strings(payload.result)
        case UnknownPayload():
            yield payload.text or ""
            yield from _strings(payload.value)
        case UsagePayload():
            return
        case _:
            yield from _strings(payload)


def _block(block: Block) -> Iterator[str]:
    """A tool's use and result are searched in their own events; a stream is no part of a message."""
    match block:
        case TextBlock():
            yield block.text
        case ThinkingBlock():
            yield block.thinking
        case CommandBlock():
            yield block.command
        case ToolResultBlock():
            yield from _strings(block.tool_content)
        case AttachmentBlock():
            yield block.media_type


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts in a JSON value, in order; its keys and numbers say nothing by themselves."""
    if isinstance(value, str):
        yield value
    elif depth < DEEPEST and isinstance(value, dict):
        for each in value.values():
            yield from _strings(each, depth + 1)
    elif depth < DEEPEST and isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each, depth + 1)
