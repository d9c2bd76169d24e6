"""Finds the secrets in runs and where they are, to check a transcript before it is shared or committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.redact.event import EventMask
from stenograph.redact.scan import Sureness, findings


class FoundSecret(Struct, frozen=True, kw_only=True):
    """The position of a secret. The secret itself is in `value`, which is not shown unless asked for."""

    run_id: str
    seq: int
    field: str
    rule: str
    sureness: Sureness
    value: str

    def to_dict(self, *, show: bool = False) -> dict[str, object]:
        """The fields as plain values; with `show`, also the secret."""
        shown = {"run_id": self.run_id, "seq": self.seq, "field": self.field, "rule": self.rule, "sure": self.sureness}
        return {**shown, "value": self.value} if show else shown


def secrets_in(events: Iterable[Event], mask: EventMask) -> Iterator[FoundSecret]:
    """The secrets of a run's events, in order."""
    for event in events:
        for found in findings(event, mask):
            yield FoundSecret(
                run_id=event.run_id,
                seq=event.seq,
                field=found.field,
                rule=found.rule,
                sureness=found.sureness,
                value=found.value,
            )
