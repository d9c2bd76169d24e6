"""Turns what the typed decoder refuses into an event that is typed as far as possible, and back into JSON.

Nothing is dropped here: a field that does not fit moves to `extra`, a block of an unknown type becomes an
`UnknownBlock`, a line that is not JSON becomes an `unknown` event with its text.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable
from typing import Any, get_args

import msgspec
from msgspec import UNSET
from msgspec.structs import FieldInfo, fields

from stenograph.model.block import Block, UnknownBlock
from stenograph.model.event import PAYLOAD_TYPES, Event, Origin
from stenograph.model.payload import UnknownPayload
from stenograph.model.value import Extra, Value

_BLOCKS: dict[str, type[Value]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Block)}
_LONE = re.compile("[\ud800-\udfff]")
_BLANKS: dict[str, Any] = {
    "seq": 0,
    "iteration": 0,
    "size": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "blocks": (),
    "fidelity": "agent_emitted",
    "scope": "call",
    "payload": None,
    "input": None,
    "output": None,
    "tool_input": None,
    "tool_content": None,
}
"""What a required field holds when the source lacks it; every other required field is a string and blank."""


def parse_json(line: bytes) -> tuple[Any, int]:
    """Any JSON that Python can make sense of, with the number of characters that had to be replaced.

    Takes what strict decoders refuse: lone surrogates, invalid UTF-8, raw control characters, NaN and numbers
    beyond a double (kept as strings). Raises ValueError or RecursionError for the rest.
    """
    text = line.decode("utf-8", "surrogateescape")
    value = json.loads(text, strict=False, parse_constant=str, parse_float=_number)
    if "\\ud" not in text and "\\uD" not in text and (text.isascii() or not _LONE.search(text)):
        return value, 0
    # The parser has joined the escaped pairs. Pairs are not joined again (as `scrub` does): an invalid byte was decoded
    # to a low surrogate, and must not be taken for the second half of a lone escape before it.
    return _scrubbed(value, _LONE.subn)


def _number(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def scrub(value: Any) -> tuple[Any, int]:
    """The value with every lone surrogate replaced by U+FFFD, and how many there were."""
    return _scrubbed(value, lambda mark, text: _LONE.subn(mark, _with_pairs_joined(text)))


def _with_pairs_joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _scrubbed(value: Any, replace: Callable[[str, str], tuple[str, int]]) -> tuple[Any, int]:
    replaced = 0

    def walk(node: Any) -> Any:
        nonlocal replaced
        if isinstance(node, str):
            if node.isascii():
                return node
            text, count = replace("\ufffd", node)
            replaced += count
            return text
        if isinstance(node, dict):
            clean: dict[Any, Any] = {}
            for key, item in node.items():
                name = walk(key)
                while name in clean or (name != key and name in node):  # two keys may become one: keep both items
                    name = f"{name}\ufffd{len(clean)}"
                clean[name] = walk(item)
            return clean
        if isinstance(node, list | tuple):
            return [walk(item) for item in node]
        return node

    return walk(value), replaced


def event_from(value: Any) -> Event:
    """A decoded line as an event: typed where it fits, `unknown` when it is not an event at all."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return blank_event(UnknownPayload(value=value))
    event: Event = _build(Event, {name: item for name, item in value.items() if name != "payload"})
    return msgspec.structs.replace(event, payload=payload_from(event.type, value.get("payload")))


def unreadable_event(line: bytes) -> Event:
    """A line that is not JSON, kept whole."""
    raw, raw_b64 = raw_fields(line)
    return blank_event(UnknownPayload(text=line.decode("utf-8", "replace")), raw=raw, raw_b64=raw_b64)


def raw_fields(line: bytes) -> tuple[str | None, str | None]:
    """A source line as `raw` or, when it is not UTF-8, as `raw_b64`."""
    try:
        return line.decode(), None
    except UnicodeDecodeError:
        return None, base64.b64encode(line).decode()


def blank_event(payload: UnknownPayload, **more: Any) -> Event:
    """An `unknown` event without number, place and date."""
    return Event(seq=0, run_id="", type="unknown", path="", iteration=0, timestamp="", payload=payload, **more)


def plain(value: Any) -> Any:
    """A value as its JSON object, with `extra` back among the fields; JSON of any shape inside it is not copied."""
    if isinstance(value, Value):
        tag = value.__struct_config__.tag
        result: dict[str, Any] = {} if tag is None else {"type": tag}
        for field in _fields(type(value)):
            item = getattr(value, field.name)
            if field.name == "extra" or item is UNSET or (item is None and field.default is None):
                continue
            result[field.name] = plain(item)
        return result | (value.extra or {})
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def _fields(kind: type[Any]) -> tuple[FieldInfo, ...]:
    known = _known_fields.get(kind)
    if known is None:
        known = _known_fields[kind] = fields(kind)  # `fields` reads the annotations on each call
    return known


_known_fields: dict[type[Any], tuple[FieldInfo, ...]] = {}


def filled(event: Event, **fields: Any) -> Event:
    """The event with these fields; wrong values of theirs leave `extra`, which `encode` prefers to a field."""
    extra = Extra({name: value for name, value in (event.extra or {}).items() if name not in fields})
    return msgspec.structs.replace(event, extra=extra or None, **fields)


def without_surrogates(event: Event) -> tuple[Event, int]:
    """The event in a form that UTF-8 can hold, and how many characters were replaced."""
    value, replaced = scrub(plain(event))
    return event_from(value), replaced


def payload_from(type: str, value: Any) -> Any:
    """A payload of a known event type, typed where it fits."""
    kind = PAYLOAD_TYPES.get(type)
    return value if kind is None or not isinstance(value, dict) else _build(kind, value)


def _build(kind: type[Any], source: dict[str, Any]) -> Any:
    known: dict[str, Any] = {}
    extra = Extra(source)
    for field in _fields(kind):
        name = field.name
        if name == "extra":
            continue
        if source.get(name, UNSET) is None and field.default is None:
            del extra[name]  # null in an optional field says no more than its absence
        elif name in source:
            try:
                known[name] = _fitted(name, source[name], field.type)
                del extra[name]
                continue
            except msgspec.ValidationError:
                pass  # stays in extra, and the field is blank
        if field.required:
            known[name] = _BLANKS.get(name, "")
    if kind.__struct_config__.tag is not None:
        extra.pop("type", None)
    return kind(extra=extra or None, **known)


def _fitted(name: str, value: Any, type: Any) -> Any:
    if name == "blocks" and isinstance(value, list) and all(isinstance(block, dict) for block in value):
        return tuple(_block_from(block) for block in value)
    if name == "origin" and isinstance(value, dict):
        return _build(Origin, value)
    return msgspec.convert(value, type)


def _block_from(source: dict[str, Any]) -> Any:
    tag = source.get("type")
    kind = _BLOCKS.get(tag) if isinstance(tag, str) else None
    if kind is not None:
        return _build(kind, source)
    return UnknownBlock(extra=Extra(source)) if source else UnknownBlock()
