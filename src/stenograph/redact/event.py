"""Masking events: every text that an event carries, and none of what identifies it."""

from __future__ import annotations

import base64
import copy
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.model import AttachmentBlock, Event, Value
from stenograph.redact.hint import may_hold_secret
from stenograph.redact.text import mask_text, mask_value

_encode = msgspec.json.Encoder().encode
_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
"""What the encoder raises for values that no journal can hold."""


def default_masker() -> Callable[[Event], Event]:
    """A mask for `Recorder`: gives the same event back when it holds no secret that we know, and never raises."""
    return mask_event


def mask_event(event: Event) -> Event:
    """The event with its secrets masked."""
    if not _may_hold_secret(event):
        return event
    changes: dict[str, Any] = {}
    for name, mask in _FIELDS.items():
        before = getattr(event, name)
        after = mask(before)
        if after is not before:
            changes[name] = after
    return replace(event, **changes) if changes else event


def _may_hold_secret(event: Event) -> bool:
    """Whether anything in the event, looked at as the line that it will be, hints at a secret."""
    if event.raw_b64 is not None:
        return True
    try:
        # Latin-1 takes any bytes and keeps one byte per character, which is all that the hints need.
        return may_hold_secret(_encode(event).decode("latin-1"))
    except _UNWRITABLE:
        return True


def _mask_tree(node: Any, name: str | None = None) -> Any:
    """A payload or field with its texts masked; the same object when there was nothing to mask."""
    try:
        return _mask(name, node)
    except RecursionError:
        return _mask_as_json(node)


def _mask_as_json(node: Any) -> Any:
    """What is nested too deeply to walk, masked as the text that it will be."""
    try:
        text = _encode(node).decode()
        masked = mask_text(text)
        return node if masked == text else msgspec.json.decode(masked)
    except _UNWRITABLE:
        return node  # nobody can write it, so nobody will read it


def _mask(name: str | None, node: Any) -> Any:
    """What stands under a name, masked; the items of a list stand under the name of the list."""
    if isinstance(node, str):
        masked = mask_value(name, node)
        return node if masked == node else masked
    if isinstance(node, Value):
        return _mask_fields(node)
    if isinstance(node, dict):
        return _mask_items(node, {key: _mask(key if isinstance(key, str) else None, node[key]) for key in node})
    if isinstance(node, list):
        return _mask_items(node, dict(enumerate(_mask(name, item) for item in node)))
    if isinstance(node, tuple):
        items = tuple(_mask(name, item) for item in node)
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node


def _mask_fields(value: Value) -> Value:
    """A value with its fields masked; of an attachment, whose content is no text, only what it has no name for."""
    names = ("extra",) if isinstance(value, AttachmentBlock) else value.__struct_fields__
    changes: dict[str, Any] = {}
    for name in names:
        before = getattr(value, name)
        after = _mask_tree(before, name)
        if after is not before:
            changes[name] = after
    return replace(value, **changes) if changes else value


def _mask_items(container: Any, items: dict[Any, Any]) -> Any:
    """A dict or list of the same class with these items; itself when none of them is new."""
    changed = {key: item for key, item in items.items() if item is not container[key]}
    if not changed:
        return container
    masked = copy.copy(container)
    for key, item in changed.items():
        masked[key] = item
    return masked


def _mask_base64(encoded: Any) -> Any:
    """A source line that is not UTF-8, masked where it is text."""
    if not isinstance(encoded, str):
        return encoded
    try:
        text = base64.b64decode(encoded, validate=True).decode("utf-8", "surrogateescape")
    except ValueError:
        return encoded
    masked = mask_text(text)
    return encoded if masked == text else base64.b64encode(masked.encode("utf-8", "surrogateescape")).decode()


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "payload": _mask_tree,
    "raw": _mask_tree,
    "raw_b64": _mask_base64,
    "extra": _mask_tree,
}
"""The fields of an event that carry text; the others say which event it is."""
