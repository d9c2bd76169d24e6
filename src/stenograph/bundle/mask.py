"""Masks the contents of a bundle: events, records, documents and text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

from stenograph.bundle.secrets import machine_mask
from stenograph.model import Event
from stenograph.redact.stream import mask_events

T = TypeVar("T")


class BundleMask:
    """Masks every secret with a known shape or name, every one that this machine knows, and those in `secrets`."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._mask = machine_mask(secrets)

    @property
    def counts(self) -> Counter[str]:
        """What was masked in events, by rule."""
        return self._mask.counts or Counter()

    def learn(self, events: Iterable[Event]) -> None:
        """Read a run before it is masked, so that what is secret in one place is masked everywhere in it."""
        self._mask.learn(events)

    def events(self, events: Iterable[tuple[Event, T]]) -> Iterator[tuple[Event, T]]:
        """The events masked in every field, each with the value that came with it."""
        return mask_events(events, self._mask)

    def text(self, text: str) -> str:
        """A text masked."""
        return self._mask.texts.text(text)

    def data(self, data: bytes) -> bytes:
        """A text, or one JSON document, with its secrets masked."""
        text = data.decode("utf-8", "surrogateescape")
        if not self._mask.texts.may_hold_secret(text):
            return data
        return self.text(text).encode("utf-8", "surrogateescape")
