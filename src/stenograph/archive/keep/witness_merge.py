"""Merging the events of one witness into a run, in one batch: which are new, and whether the run keeps its order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from stenograph.archive.index.chunk import bare, events_of, unnumbered
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.run_row import RunRow
from stenograph.archive.keep import match_keys
from stenograph.archive.keep.unreported import Times, UnreportedEvent, UnreportedEvents, with_blocks, with_call_id
from stenograph.archive.keep.witness import Range, Witness, is_in, ranges_of
from stenograph.model.event import Event


@dataclass(slots=True)
class MergeStep:
    """An event that the witness reported."""

    source: str
    ms: int | None
    """Its own time."""
    same: int | None
    """The number of the same event in the run, if it has one."""
    number: int = 0
    """Its number in the run: that of the same event, or its own."""


class WitnessMerge:
    """Merges one witness into a run that other witnesses report, too."""

    def __init__(self, index: IndexWriter, run: RunRow, witness: Witness, others: Iterable[Witness]) -> None:
        self.witness = witness
        self.others = list(others)
        self.last_before = run.last_seq
        """The last number of the run before the batch."""
        self.is_out_of_order = False
        """An event does not belong at the end of the run, or another witness reported it in other words."""
        self.steps: list[MergeStep] = []
        self._leads = witness.rank < min(each.rank for each in self.others)
        missing = witness.missing(run.last_seq)
        self.unreported = UnreportedEvents(lambda: _events(index, run.id, missing), leads=self._leads)
        self._times = Times()
        self._at = dict(witness.last)

    def add(self, event: Event) -> Event | None:
        """What is new in the event, if anything; call `set_number` with the number that it gets."""
        event = unnumbered(bare(event)[0])
        found, new = self.unreported.take(event) if self.unreported.all else (None, event)
        step = MergeStep(event.source, self._times.own(event), None if found is None else found.seq)
        if found is not None and self._leads:
            new = self._lead(event, found)
        if found is None and new is None:
            return None
        if new is not None and found is None and self.unreported.has_later(step.source, step.ms):
            self.is_out_of_order = True
        self.steps.append(step)
        if new is None:
            self.set_number(step.same or 0)
        return new

    def _lead(self, event: Event, found: UnreportedEvent) -> Event | None:
        """The leading witness's version of an event replaces the others', at its own place."""
        if found.content == match_keys.content_of(event):
            if found.seq < self._at.get(event.source, 0):
                self.is_out_of_order = True
            return None
        self.is_out_of_order = True
        return event

    def set_number(self, seq: int) -> None:
        """Set the number of the event that was added last."""
        step = self.steps[-1]
        step.number = seq
        self._at[step.source] = max(seq, self._at.get(step.source, 0))

    def settle(self, last_seq: int) -> None:
        """Note how much of the run, which has this many events now, the witness has reported."""
        self.witness.unreported = ranges_of(self.unreported.left())
        self.witness.upto = last_seq
        self.witness.last = self._at

    # When the run has to be put in order.

    def order(self, existing: list[int], before: dict[str, int]) -> list[int]:
        """The numbers of the run's events in the right order, without those that the witness replaced.

        `existing` are the old ones, `before` the last ones that the witness had reported, by source. Where it leads,
        its order counts. Any other new event stands behind what the witness reported before it, and there by its time.
        """
        places = {seq: place for place, seq in enumerate(existing)}
        moved = self._moved()
        ordered: list[int] = []
        at = 0

        def go_on(to: int) -> None:
            nonlocal at
            ordered.extend(seq for seq in existing[at:to] if seq not in moved)
            at = max(at, to)

        for step, bound in zip(self.steps, self._bounds(places), strict=True):
            if step.same is not None:
                go_on(places[step.same] + (not self._leads))
                if self._leads:
                    ordered.append(step.number)
                    at = max(at, places[step.same] + 1)
                    continue
                if step.number == step.same:
                    continue
            go_on(places.get(before.get(step.source, 0), -1) + 1)
            while at < bound and self._is_earlier(existing[at], step.ms):
                go_on(at + 1)
            ordered.append(step.number)
        go_on(len(existing))
        return ordered

    def _is_earlier(self, seq: int, ms: int | None) -> bool:
        each = self.unreported.all.get(seq)
        return each is None or (ms is not None and each.ms <= ms)

    def _bounds(self, places: dict[int, int]) -> list[int]:
        """For each step, where the next event is that both this witness and another one reported."""
        bounds: list[int] = []
        bound = len(places)
        for step in reversed(self.steps):
            bounds.append(bound)
            bound = bound if step.same is None else places[step.same]
        return bounds[::-1]

    def _moved(self) -> set[int]:
        """Events that move to the place where the leading witness has them, replaced or not."""
        if not self._leads:
            return set()
        return {seq for seq, each in self.unreported.all.items() if each.is_reported} - self.trimmed().keys()

    def trimmed(self) -> dict[int, list[int]]:
        """Messages of which the leading witness reported only some blocks, with the places of the other blocks."""
        return {
            seq: [place for place in range(each.blocks) if place not in each.reported_blocks]
            for seq, each in self.unreported.all.items()
            if self._leads and each.reported_blocks and len(each.reported_blocks) < each.blocks
        }

    def rewriting(self) -> Callable[[Event], Event]:
        """A function that changes other witnesses' events: with the leading one's call ids, without its blocks."""
        trimmed = self.trimmed()
        ids = {other: own for own, other in self.unreported.aliases.items()} if self._leads else {}

        def rewrite(event: Event) -> Event:
            if event.seq > self.last_before:
                return event
            places = trimmed.get(event.seq)
            return with_call_id(event if places is None else with_blocks(event, places), ids)

        return rewrite

    def numbers(self, ordered: list[int]) -> dict[int, int]:
        """The new number of every event, by its old one."""
        numbers = {seq: number for number, seq in enumerate(ordered, 1)}
        for step in self.steps:
            if step.same is not None and step.number in numbers:
                numbers.setdefault(step.same, numbers[step.number])
        return numbers


def _events(index: IndexWriter, run: int, ranges: list[Range]) -> Iterator[Event]:
    """The events of a run with numbers in these ranges."""
    if not ranges:
        return
    query = "SELECT lines FROM blocks WHERE run = ? AND last_seq >= ? ORDER BY first_seq"
    for (lines,) in index.execute(query, (run, ranges[0][0])).fetchall():
        for event in events_of(lines):
            if is_in(event.seq, ranges):
                yield event
