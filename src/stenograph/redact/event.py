"""Masks events: every text that an event carries and, for sharing, the fields that identify it."""

from __future__ import annotations

import base64
import copy
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from stenograph.model import AttachmentBlock, Event, ThinkingBlock, Value
from stenograph.model.block import OPAQUE
from stenograph.redact.base64_text import unpacked
from stenograph.redact.command import argument_secrets
from stenograph.redact.known import KnownSecrets
from stenograph.redact.memory import Memory
from stenograph.redact.name_value import labels_in
from stenograph.redact.span import Span
from stenograph.redact.text import TextMask, number_kind
from stenograph.redact.user_rules import UserRules

_encode = msgspec.json.Encoder().encode
_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)
"""What the encoder raises for values that a journal cannot hold."""
_BASE64 = "raw_b64"
_READABLE = tuple(name for name in ThinkingBlock.__struct_fields__ if name not in OPAQUE)
"""All but signatures and ciphertext, which look like secrets and are worthless when a letter of them is changed."""
_SMALLEST, _LARGEST = 1000, 10**40 - 1
"""Numbers that may be secrets."""
_SOURCE_LINE = ("raw", _BASE64)
_CARRY_TEXT = ("payload", "raw", _BASE64, "extra")
"""The fields of an event that carry text; the others identify the event."""


def journal_mask(known: KnownSecrets) -> EventMask:
    """A mask for a journal: the fields that identify an event stay."""
    return EventMask(TextMask(known, memory=Memory()), _CARRY_TEXT)


def sharing_mask(secrets: Iterable[str] = (), own: UserRules | None = None) -> EventMask:
    """A mask for readers, not for a journal: names, places and ids may change, too.

    It remembers what it masked and counts it by rule; `learn` reads a run before the run is masked.
    """
    texts = TextMask(KnownSecrets(secrets), keeps_ids=False, own=own, memory=Memory())
    return EventMask(texts, Event.__struct_fields__, counts=Counter())


class EventMask:
    """Masks the given fields of events."""

    def __init__(self, texts: TextMask, fields: Iterable[str], *, counts: Counter[str] | None = None) -> None:
        self.texts = texts
        self._fields = tuple(fields)
        self.counts = counts
        """Masked secrets by rule; one that a payload and its source line both have counts once. None: not counted."""

    def learn(self, events: Iterable[Event]) -> None:
        """Read events without masking them, so that what is secret in one is masked in earlier ones, too."""
        counts, self.counts = self.counts, None
        for event in events:
            self.event(event)
        self.counts = counts

    def event(self, event: Event) -> Event:
        """The event with its secrets masked; itself when there are none."""
        if not self.may_hold_secret(event):
            return event
        changes: dict[str, Any] = {}
        said: Counter[str] = Counter()
        repeated: Counter[str] = Counter()
        for name in self._fields:
            if self.counts is not None:
                self.texts.counts = repeated if name in _SOURCE_LINE else said
            before = getattr(event, name)
            after = self._mask_base64(before) if name == _BASE64 else self._mask_tree(before)
            if after is not before:
                changes[name] = after
        if self.counts is not None:
            self.texts.counts = None
            self.counts.update(said | repeated)
        return replace(event, **changes) if changes else event

    def may_hold_secret(self, event: Event) -> bool:
        """Whether anything in the event's line hints at a secret."""
        if event.raw_b64 is not None:
            return True
        try:
            return self.texts.may_hold_secret(_encode(event).decode())
        except _UNWRITABLE:
            return True

    def _mask_tree(self, node: Any, name: str | None = None) -> Any:
        """A payload or field with its texts masked; the same object when there was nothing to mask."""
        try:
            return self._mask(name, node)
        except RecursionError:
            return self._mask_as_json(node)

    def _mask_as_json(self, node: Any) -> Any:
        """A value that is nested too deeply to walk, masked as its JSON text."""
        try:
            text = _encode(node).decode()
            masked = self.texts.text(text)
            return node if masked == text else msgspec.json.decode(masked)
        except _UNWRITABLE:
            return node  # it cannot be written, so it will never be read

    def _mask(self, name: str | None, node: Any, label: str | None = None) -> Any:
        """The value of a name, masked; the items of a list have the name of the list."""
        if isinstance(node, str):
            masked = self.texts.value(name, node, label)
            return node if masked == node else masked
        if isinstance(node, int) and name is not None and node >= _SMALLEST and not isinstance(node, bool):
            return self._mask_number(name, node)
        if isinstance(node, AttachmentBlock):
            return self._mask_attachment(node)
        if isinstance(node, ThinkingBlock):
            return self._mask_fields(self._mask_opaque(node), _READABLE)
        if isinstance(node, Value):
            return self._mask_fields(node, node.__struct_fields__)
        if isinstance(node, dict):
            return self._mask_dict(node)
        if isinstance(node, list):
            items = [self._mask(name, item) for item in self._with_masked_arguments(node)]
            return _with_items(node, items) if _are_new(items, node) else node
        if isinstance(node, tuple):
            masked_items = tuple(self._mask(name, item) for item in node)
            return masked_items if _are_new(masked_items, node) else node
        return node

    def _mask_number(self, name: str, number: int) -> Any:
        """A number; a mark instead, if its name is that of a secret."""
        kind = None if number > _LARGEST else number_kind(self.texts.promise(name), str(number))
        return number if kind is None else self.texts.cut(str(number), [Span(0, len(str(number)), kind)])

    def _with_masked_arguments(self, node: list[Any]) -> list[Any]:
        """The list with its secrets masked, if it is a command with arguments."""
        if len(node) < 2 or any(isinstance(item, (dict, list, tuple, Value)) for item in node):
            return node
        places = [number for number, item in enumerate(node) if isinstance(item, str)]
        found = argument_secrets([node[number] for number in places])
        masked = list(node)
        for place, spans in found.items():
            masked[places[place]] = self.texts.cut(node[places[place]], spans)
        return masked

    def _mask_fields(self, value: Value, names: Iterable[str]) -> Value:
        changes: dict[str, Any] = {}
        for name in names:
            before = getattr(value, name)
            after = self._mask_tree(before, name)
            if after is not before:
                changes[name] = after
        return replace(value, **changes) if changes else value

    def _mask_opaque(self, block: ThinkingBlock) -> ThinkingBlock:
        """A thinking block whose signature and ciphertext are searched for issued tokens and known secrets only."""
        changes = {}
        for name in OPAQUE:
            before = getattr(block, name)
            if isinstance(before, str) and (masked := self.texts.without_tokens(before)) != before:
                changes[name] = masked
        return replace(block, **changes) if changes else block

    def _mask_attachment(self, block: AttachmentBlock) -> Value:
        """The block without its content when that holds a secret: a mark cannot be put into an image."""
        data = block.data
        if data is not None and any(self.texts.find(None, content) for content in (data, unpacked(data))):
            block = replace(block, data=None)
        return self._mask_fields(block, ("media_type", "sha256", "extra"))

    def _mask_dict(self, node: dict[Any, Any]) -> dict[Any, Any]:
        """An object of the same class with keys and values masked; itself when none of them is new."""
        labels = labels_in(node)
        items = {key: self._mask(key if isinstance(key, str) else None, node[key], labels.get(key)) for key in node}
        keys = {key: self.texts.text(key) for key in node if isinstance(key, str)}
        if not _are_new(items.values(), node.values()) and all(key == masked for key, masked in keys.items()):
            return node
        masked = copy.copy(node)
        masked.clear()
        for key, item in items.items():
            masked[_free(keys.get(key, key), masked)] = item
        return masked

    def _mask_base64(self, encoded: Any) -> Any:
        """A source line that is not UTF-8, masked where it is text."""
        if not isinstance(encoded, str):
            return encoded
        try:
            text = base64.b64decode(encoded, validate=True).decode("utf-8", "surrogateescape")
        except ValueError:
            return encoded
        masked = self.texts.text(text)
        return encoded if masked == text else base64.b64encode(masked.encode("utf-8", "surrogateescape")).decode()


def _free(key: Any, taken: dict[Any, Any]) -> Any:
    """The key, numbered when the masked form of another key is the same."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{key}-{number}"
    return free


def _are_new(items: Iterable[Any], before: Iterable[Any]) -> bool:
    return any(new is not old for new, old in zip(items, before, strict=True))


def _with_items(container: list[Any], items: list[Any]) -> list[Any]:
    masked = copy.copy(container)
    masked[:] = items
    return masked
