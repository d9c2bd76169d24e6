"""`--redact`: every text of every event masked, those that identify it included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stenograph.bundle.secrets import known_secrets
from stenograph.model import Event
from stenograph.redact import sharing_mask
from stenograph.redact.stream import mask_events


class Redaction:
    """Masks events for a reader, not for a journal: paths, names and ids may change, too."""

    def __init__(self) -> None:
        self._mask = sharing_mask(known_secrets())

    def event(self, event: Event) -> Event:
        """One event, looked at by itself."""
        return self._mask.event(event)

    def events(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of a run, chunks of a stream looked at together."""
        return (event for event, _ in mask_events(((event, None) for event in events), self._mask))
