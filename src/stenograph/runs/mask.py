"""A run as it may be shared: every text that its reader returns is masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from stenograph.bundle.secrets import machine_mask
from stenograph.fold.tree import RunNode
from stenograph.model.event import Event
from stenograph.model.payload import SystemPayload
from stenograph.redact.event import EventMask
from stenograph.redact.stream import mask_events
from stenograph.runs.info import RunInfo

Masker = Callable[[Event], Event]
"""Returns an event with its secrets masked, such as `default_masker()`."""
_IDS = {"run_id", "parent_run_id", "started_at", "ended_at", "archive_id", "status"}
"""Fields that identify the run and its time: they hold no secrets, and programs join by them."""


class RunMask:
    """Masks the output of a reader. Unlike in a journal, paths, names and ids in texts may change."""

    def __init__(self, masker: Masker | None = None) -> None:
        """Without a masker: every secret whose shape or name we know, and those of this machine."""
        self._mask: EventMask | None = None
        if masker is None:
            self._mask = machine_mask()
            masker = self._mask.event
        self.event = masker
        """Masks one event by itself."""

        self._passes: list[Counter[str]] = []
        self._has_learned = False

    @property
    def counts(self) -> Counter[str]:
        """What was masked in events, by rule; for a run that was read several times, the largest count."""
        return max(self._passes, key=Counter.total, default=Counter())

    @property
    def latest(self) -> Counter[str]:
        """What was masked since a run was last read from its beginning."""
        return self._passes[-1] if self._passes else Counter()

    def learn(self, events: Callable[[], Iterable[Event]]) -> None:
        """Read a run once in advance, so that what is secret in one place is masked everywhere in it."""
        if self._mask is not None and not self._has_learned:
            self._has_learned = True
            self._mask.learn(events())

    def count_anew(self) -> None:
        """Start counting again: a run is read from its beginning."""
        if self._mask is not None:
            self._mask.counts = Counter()
            self._passes.append(self._mask.counts)

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of a run, masked; chunks of a stream are masked together where the mask can do that."""
        return (masked for masked, _ in self.pairs(events))

    def pairs(self, events: Iterable[Event]) -> Iterator[tuple[Event, Event]]:
        """The masked events, each with the original."""
        if self._mask is None:
            return ((self.event(event), event) for event in events)
        self.count_anew()
        return mask_events(((event, event) for event in events), self._mask)

    def rows(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[Sequence[Any]]:
        """Rows of a table with their texts masked, by the names of their columns."""
        if self._mask is None:
            raise TypeError("a masker of your own masks events, not rows")
        self.count_anew()
        texts = self._mask.texts
        texts.counts = self.latest
        try:
            for row in rows:
                yield [
                    texts.value(name, cell) if isinstance(cell, str) else cell
                    for name, cell in zip(columns, row, strict=True)
                ]
        finally:
            texts.counts = None

    def text(self, text: str) -> str:
        """One text, masked as a text of an event is."""
        if self._mask is not None:
            return self._mask.texts.text(text)
        payload = SystemPayload(subtype="text", text=text)
        event = Event(seq=0, run_id="", type="system.event", path="", iteration=0, timestamp="", payload=payload)
        masked = self.event(event).payload
        return (masked.text or "") if isinstance(masked, SystemPayload) else ""

    def info(self, info: RunInfo) -> RunInfo:
        """The run's info without secrets."""
        return msgspec.structs.replace(info, **self._texts(info.to_dict()))

    def tree(self, node: RunNode) -> RunNode:
        """The tree of a run, without secrets."""
        return msgspec.convert(self._texts(msgspec.to_builtins(node)), RunNode)

    def _texts(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._texts(each, key) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._texts(each) for each in value]
        return self.text(value) if isinstance(value, str) and name not in _IDS else value
