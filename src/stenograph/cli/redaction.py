"""`--redact`: every text of an event masked, those that identify it included."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import fields, replace

from stenograph.model import Event, Origin
from stenograph.redact import default_masker, mask_text

_KEPT = {"payload", "origin", "raw", "raw_b64", "extra"}
_ENVELOPE = [field.name for field in fields(Event) if field.name not in _KEPT]
_ORIGIN = [field.name for field in fields(Origin) if field.name != "extra"]


def redacting() -> Callable[[Event], Event]:
    """A function that masks an event for a reader, not for a journal: paths, names and ids may change, too."""
    mask = default_masker()

    def redacted(event: Event) -> Event:
        masked = mask(event)
        changes = _changes(masked, _ENVELOPE)
        if masked.origin is not None and (inside := _changes(masked.origin, _ORIGIN)):
            changes["origin"] = replace(masked.origin, **inside)
        return replace(masked, **changes) if changes else masked

    return redacted


def _changes(value: Any, names: Iterable[str]) -> dict[str, Any]:
    told = ((name, getattr(value, name)) for name in names)
    texts = ((name, each, mask_text(each)) for name, each in told if isinstance(each, str))
    return {name: masked for name, before, masked in texts if masked != before}
