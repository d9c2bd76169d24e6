"""The searchable text of an event, and how text is split into words.

The tokenizer of the index takes everything but letters and digits for a gap, so `snake_case`, `foo.bar()` and
`path/to/file.py` are several words already. Three things it cannot do are done here, for what is indexed and for
queries alike: characters of scripts without spaces become words of their own, Greek loses its accents and full-width
letters become ASCII (the tokenizer folds Latin letters only), and the parts of CamelCase names are added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any
from unicodedata import normalize

from stenograph.model.block import (
    OPAQUE,
    AttachmentBlock,
    Block,
    CommandBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
)
from stenograph.model.event import Event
from stenograph.model.payload import (
    TOOL_DEFINITIONS,
    ErrorPayload,
    LifecyclePayload,
    MessagePayload,
    SystemPayload,
    ToolPayload,
    UnknownPayload,
)

DEEPEST = 40
"""Values nested deeper than this are not searched."""
_LONE = (
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
_KINDS = bytes(
    ord("A") if chr(byte) in ascii_uppercase else ord("a") if chr(byte) in ascii_lowercase + digits else ord(" ")
    for byte in range(256)
)
"""Letters and digits by their kind, everything else as a gap: CamelCase is found far faster in such a text."""
# Possessive, so that a text of one very long word takes linear time.
_HUMP = re.compile(rb"A(?:(?<=aA)|(?<=AA)(?=a))[aA]*+")
"""In a translated text, the rest of a word from where a capital makes it look like a name."""
_NAME = re.compile(rb"[A-Z]?[a-z0-9]++[A-Z]|[A-Z]{2,}+[a-z]")
"""How a CamelCase name begins."""
_PART = re.compile(rb"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_COLOUR = re.compile(r"\x1b\[[0-9;:?]*[@-~]")
"""Terminal codes for colours and moves, which are not searched: letters at their end would join the next word."""
_SPACE = re.compile(rb"\s")
_SLICE = 1 << 20
_LONGEST_NAME = 80
_MOST_NAMES = 1 << 16


def spaced(text: str) -> str:
    """The text with spaces around characters of scripts without spaces, and Greek and full-width letters folded."""
    if text.isascii():
        return text
    if _may_have_foldable(text):
        text = _foldable().sub(_folded, text)
    return _lone().sub(r" \g<0> ", text)


def _may_have_foldable(text: str) -> bool:
    """Whether the text may have such letters: far faster than the search for them."""
    data = text.encode("utf-8", "surrogatepass")
    return any(mark in data for mark in _MARKS)


_MARKS = (b"\xce", b"\xcf", b"\xe1\xbc", b"\xe1\xbd", b"\xe1\xbe", b"\xe1\xbf", b"\xef\xbc", b"\xef\xbd")
"""How Greek letters (of both blocks) and full-width ones begin in UTF-8."""


@cache
def _foldable() -> re.Pattern[str]:
    """Greek letters with accents, and full-width letters and digits."""
    greek, wide = "\u0386-\u0390\u03aa-\u03b0\u03ca-\u03ce\u1f00-\u1fff", "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
    return re.compile(f"[{greek}{wide}]")


def _folded(found: re.Match[str]) -> str:
    letter = found[0]
    return chr(ord(letter) - _WIDTH) if letter >= "\uff10" else normalize("NFD", letter)[0]


_WIDTH = 0xFEE0
"""How far full-width letters are from ASCII."""


@cache
def _lone() -> re.Pattern[str]:
    """Compiled when it is needed: that takes longer than many searches."""
    return re.compile(_LONE)


def camel_parts(text: bytes) -> list[bytes]:
    """The parts of the CamelCase names in a text, each name once, in order."""
    words: dict[bytes, None] = {}
    for piece in _slices(text):
        kinds = piece.translate(_KINDS)
        before = kinds.rfind
        for hump in _HUMP.finditer(kinds):
            words[piece[before(b" ", 0, hump.start()) + 1 : hump.end()]] = None
    return [parts for parts in map(_parts.__getitem__, words) if parts]


def _slices(text: bytes) -> Iterator[bytes]:
    """The text in pieces that end between words: a list of all words of a long text takes many times its memory."""
    start = 0
    while len(text) - start > _SLICE:
        space = _SPACE.search(text, start + _SLICE)
        if space is None:
            break
        yield text[start : space.start()]
        start = space.start()
    yield text[start:] if start else text


def parts_of_name(text: str) -> list[str]:
    """The parts of a CamelCase name; nothing for any other text."""
    data = text.encode("utf-8", "replace")
    return [parts.decode() for parts in camel_parts(data)] if data.isalnum() else []


class _Parts(dict[bytes, bytes]):
    """A cache of the parts of names; empty for a word that is not a CamelCase name."""

    def __missing__(self, word: bytes) -> bytes:
        if len(word) > _LONGEST_NAME:
            return b""
        if len(self) >= _MOST_NAMES:
            self.clear()
        parts = self[word] = b" ".join(_PART.findall(word)) if _NAME.match(word) else b""
        return parts


_parts = _Parts()


def searchable(text: str) -> bytes:
    """The text as it is indexed, in UTF-8: spaced, with the parts of its CamelCase names at the end."""
    return with_parts(spaced(text).encode())


def with_parts(text: bytes) -> bytes:
    """A spaced text with the parts of its CamelCase names at the end."""
    parts = camel_parts(text)
    return b"%b\n%b" % (text, b" ".join(parts)) if parts else text


def event_text(event: Event) -> str:
    """The text of an event for a person: what is searched, and what snippets are taken from."""
    payload = event.payload
    pieces = _PIECES.get(payload.__class__, _strings)(payload)
    text = "\n".join([piece for piece in pieces if piece])
    return _COLOUR.sub("", text) if "\x1b" in text else text


def _of_message(payload: MessagePayload) -> list[str]:
    return [piece for block in payload.blocks for piece in _of_block(block)]


def _of_tool(payload: ToolPayload) -> list[str]:
    pieces = [payload.name, *_input_texts(payload.input), *_strings(payload.output), payload.error or ""]
    for block in payload.blocks or ():
        pieces += _of_block(block)
    return pieces


def _of_system(payload: SystemPayload) -> list[str]:
    # The schemas of an agent's tools are in every one of its sessions; their names are the text.
    return [payload.text or "", *(_strings(payload.data) if payload.subtype != TOOL_DEFINITIONS else ())]


def _of_error(payload: ErrorPayload) -> list[str]:
    return [payload.message, payload.code or ""]


def _of_lifecycle(payload: LifecyclePayload) -> list[str]:
    return [payload.name, payload.error or "", *_strings(payload.result)]


def _of_unknown(payload: UnknownPayload) -> list[str]:
    return [payload.text or "", *_strings(payload.value)]


_PIECES: dict[type, Callable[[Any], list[str]]] = {
    MessagePayload: _of_message,
    ToolPayload: _of_tool,
    SystemPayload: _of_system,
    ErrorPayload: _of_error,
    LifecyclePayload: _of_lifecycle,
    UnknownPayload: _of_unknown,
}


def _of_block(block: Block) -> list[str]:
    """A tool's use is searched in its own event; a stream is not a part of a message."""
    match block:
        case TextBlock():
            return [block.text]
        case ThinkingBlock():
            return [block.thinking]
        case CommandBlock():
            return [block.command]
        case ToolResultBlock():
            return _strings(block.tool_content)
        case AttachmentBlock():
            return [block.media_type]
        case _:
            return []


def _input_texts(value: Any) -> list[str]:
    """The input of a tool: the texts, and behind them the names of its arguments and the numbers."""
    if value is None or value.__class__ is str:
        return [value or ""]
    return [*_strings(value), " ".join(_names(value))]


def _names(value: Any, depth: int = 0) -> list[str]:
    """The keys and numbers in a JSON value."""
    if value.__class__ is int or value.__class__ is float:
        return [repr(value)]
    if depth >= DEEPEST:
        return []
    if isinstance(value, dict):
        found: list[str] = []
        for key, each in value.items():
            found.append(key)
            if each.__class__ is not str:
                found += _names(each, depth + 1)
        return found
    if isinstance(value, list | tuple):
        return [name for each in value if each.__class__ is not str for name in _names(each, depth + 1)]
    return []


def _strings(value: Any, depth: int = 0) -> list[str]:
    """The texts in a JSON value, in order, without its keys and numbers."""
    if isinstance(value, str):
        return [value]
    if depth >= DEEPEST or not isinstance(value, dict | list | tuple):
        return []
    found: list[str] = []
    for each in _searched(value) if isinstance(value, dict) else value:
        if each.__class__ is str:
            found.append(each)
        else:
            found += _strings(each, depth + 1)
    return found


def _searched(value: dict[str, Any]) -> Iterable[Any]:
    """The values of an object, without what only a provider can read."""
    return value.values() if "encrypted_content" not in value else (value[key] for key in value if key not in OPAQUE)
