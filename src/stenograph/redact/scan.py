"""Finds secrets without masking them: in which field of an event, by which rule, and how certainly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import msgspec

from stenograph.model import Event, mend
from stenograph.model.block import OPAQUE
from stenograph.redact.base64_text import unpacked
from stenograph.redact.command import argument_secrets
from stenograph.redact.event import EventMask
from stenograph.redact.name_value import labelled, labels_in
from stenograph.redact.rules import Rules, built_in
from stenograph.redact.span import Span, merge

Sureness = Literal["certain", "likely", "possible"]
_SELF_EVIDENT = frozenset(("private-key", "named-secret"))
_SOURCE_LINE = ("raw", "raw_b64")
_NEVER = frozenset(("seq", "run_id", "parent_run_id", "child_run_id", "type", "iteration", "timestamp"))
"""The fields that identify an event."""


class Finding(NamedTuple):
    """A secret in an event."""

    field: str
    """Its position, such as `payload.blocks[0].text`."""
    rule: str
    sureness: Sureness
    """`certain` by its shape, `likely` by a secret name or place, `possible` by its randomness alone."""
    value: str


def findings(event: Event, mask: EventMask) -> Iterator[Finding]:
    """The secrets in an event, in the order of its fields; what a source line repeats of its payload counts once."""
    if not mask.may_hold_secret(event):
        return
    fields = mend.plain(msgspec.to_builtins(event))
    seen: set[str] = set()
    for name, value in fields.items():
        if name in _NEVER or name in _SOURCE_LINE:
            continue
        for finding in _walk(mask, name, name, value):
            seen.add(finding.value)
            yield finding
    for name in _SOURCE_LINE:
        text = fields.get(name)
        if isinstance(text, str):
            content = unpacked(text) if name == "raw_b64" else text
            yield from (each for each in _in_text(mask, name, None, content) if each.value not in seen)


def _walk(mask: EventMask, field: str, name: str | None, value: Any, label: str | None = None) -> Iterator[Finding]:
    """The secrets in a value and all that it holds."""
    if isinstance(value, str):
        yield from _in_text(mask, field, name, value, label)
    elif isinstance(value, dict):
        labels = labels_in(value)
        for key, item in value.items():
            shown = mask.texts.text(str(key))  # the position must not reveal the secret, either
            yield from _in_text(mask, f"{field}.{shown}", None, str(key))
            if key not in OPAQUE:
                yield from _walk(mask, f"{field}.{shown}", str(key), item, labels.get(key))
    elif isinstance(value, list | tuple):
        arguments = argument_secrets(value) if all(isinstance(item, str) for item in value) else {}
        for number, item in enumerate(value):
            place = f"{field}[{number}]"
            yield from _named(mask, place, item, arguments.get(number, []))
            yield from _walk(mask, place, name, item)


def _in_text(mask: EventMask, field: str, name: str | None, text: str, label: str | None = None) -> Iterator[Finding]:
    spans = mask.texts.find(name, text)
    if label is not None:
        spans = merge((*spans, *labelled(label, text)))
    yield from _named(mask, field, text, spans)


def _named(mask: EventMask, field: str, text: str, spans: list[Span]) -> Iterator[Finding]:
    for span in spans:
        yield Finding(field, span.kind, sureness_of(span.kind, mask.texts.rules), text[span.start : span.end])


def sureness_of(rule: str, rules: Rules | None = None) -> Sureness:
    """How certainly what a rule finds is a secret."""
    if rule in _SELF_EVIDENT or rule in (rules or built_in()).names:
        return "certain"
    return "possible" if rule == "high-entropy" else "likely"
