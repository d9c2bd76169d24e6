"""One witness telling of one run, in one batch: what of it is new, and whether the run keeps its order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from stenograph.archive.index.block import bare, events_of, unnumbered
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.run_draft import RunDraft
from stenograph.archive.keep import likeness
from stenograph.archive.keep.untold import Times, Untold, UntoldEvents, with_blocks, with_call_id
from stenograph.archive.keep.witness import Range, Witness, is_in, ranges_of
from stenograph.model.event import Event


@dataclass(slots=True)
class Step:
    """An event that the witness told."""

    source: str
    ms: int | None
    """Its own time."""
    same: int | None
    """The event of the run that is the same."""
    number: int = 0
    """Its number in the run: that event's, or its own."""


class Telling:
    """What a witness tells of a run that others tell of, too."""

    def __init__(self, index: IndexWriter, run: RunDraft, witness: Witness, others: Iterable[Witness]) -> None:
        self.witness = witness
        self.others = list(others)
        self.began = run.last_seq
        """The last number of the run before."""
        self.is_out_of_order = False
        """Something was told that is not at its place in the run, or that another witness told in other words."""
        self.steps: list[Step] = []
        self._leads = witness.rank < min(each.rank for each in self.others)
        missing = witness.missing(run.last_seq)
        self.untold = UntoldEvents(lambda: _events(index, run.id, missing), leads=self._leads)
        self._times = Times()
        self._at = dict(witness.last)
        self._same_words: set[int] = set()

    def hear(self, event: Event) -> Event | None:
        """What of the event is new, if anything; `numbered` comes after that."""
        event = unnumbered(bare(event)[0])
        found, new = self.untold.take(event) if self.untold.all else (None, event)
        step = Step(event.source, self._times.own(event), None if found is None else found.seq)
        if found is not None and self._leads:
            new = self._lead(event, found)
        if found is None and new is None:
            return None
        if new is not None and found is None and self.untold.has_later(step.source, step.ms):
            self.is_out_of_order = True
        self.steps.append(step)
        if new is None:
            self.numbered(step.same or 0)
        return new

    def _lead(self, event: Event, found: Untold) -> Event | None:
        """The agent's own word stands for that of others, at its own place."""
        if found.content == likeness.content_of(event):
            self._same_words.add(found.seq)
            if found.seq < self._at.get(event.source, 0):
                self.is_out_of_order = True
            return None
        self.is_out_of_order = True
        return event

    def numbered(self, seq: int) -> None:
        """The number of the event that was heard last."""
        step = self.steps[-1]
        step.number = seq
        self._at[step.source] = max(seq, self._at.get(step.source, 0))

    def settle(self, last_seq: int) -> None:
        """Note how far the witness has told the run, which has so many events now."""
        self.witness.untold = ranges_of(self.untold.left())
        self.witness.upto = last_seq
        self.witness.last = self._at

    # When the run has to be put in order.

    def order(self, existing: list[int], before: dict[str, int]) -> list[int]:
        """The numbers of the run's events in their right order, those aside that the witness said in its own words.

        `existing` are those from before, `before` how far the witness had told them. Where it leads, its order counts.
        Whatever else is new stands behind what the witness told before it, and there by its time.
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
        each = self.untold.all.get(seq)
        return each is None or (ms is not None and each.ms <= ms)

    def _bounds(self, places: dict[int, int]) -> list[int]:
        """For each step, where the next event is that the witness and another one told."""
        bounds: list[int] = []
        bound = len(places)
        for step in reversed(self.steps):
            bounds.append(bound)
            bound = bound if step.same is None else places[step.same]
        return bounds[::-1]

    def _moved(self) -> set[int]:
        """What stands at the place that the leading witness gives it, in its words or in the same ones."""
        if not self._leads:
            return set()
        return {seq for seq, each in self.untold.all.items() if each.is_told} - self.trimmed().keys()

    def trimmed(self) -> dict[int, list[int]]:
        """Messages of which the leading witness tells some blocks, with the places of the others."""
        return {
            seq: [place for place in range(each.blocks) if place not in each.told_blocks]
            for seq, each in self.untold.all.items()
            if self._leads and each.told_blocks and len(each.told_blocks) < each.blocks
        }

    def rewriting(self) -> Callable[[Event], Event]:
        """What becomes of events that others told: the leading witness names the calls, and tells its own blocks."""
        trimmed = self.trimmed()
        ids = {other: own for own, other in self.untold.aliases.items()} if self._leads else {}

        def rewrite(event: Event) -> Event:
            if event.seq > self.began:
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
