"""A part of a run: what one source said, one unit, or the events between two numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from stenograph.fold.units import BEGINS_UNIT, begins_unit
from stenograph.model.event import Event

if TYPE_CHECKING:
    from stenograph.archive.reader import IndexReader


class Passage(Struct, frozen=True, kw_only=True):
    """Which events of a run are meant; without anything, all."""

    source: str | None = None
    """`main`, or a subagent by its id or the beginning of it, with or without `subagent:`; `subagent` is any."""
    unit: int | None = None
    """1, 2, 3 … by the messages to the main agent; 0 is what came before the first."""
    first: int = 0
    """The number of the first event; lines that are not events have the number 0."""
    last: int | None = None

    @property
    def is_all(self) -> bool:
        """Whether it leaves nothing out."""
        return self == Passage()


class Selection:
    """Picks the events of a passage, as they come; for one reading of one run."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self.units = 0
        """Units seen so far."""
        self.sources: dict[str, None] = {}
        """Sources seen so far, in their order."""

    def has(self, event: Event) -> bool:
        """Whether the next event of the run is in the passage."""
        passage = self._passage
        source = event.source
        self.sources[source] = None
        if begins_unit(event):
            self.units += 1
        return (
            passage.first <= event.seq
            and (passage.last is None or event.seq <= passage.last)
            and (passage.unit is None or passage.unit == self.units)
            and (passage.source is None or is_called(source, passage.source))
        )


def selected(events: Iterable[Event], passage: Passage) -> Iterator[Event]:
    """The events of a passage, picked from those of the whole run."""
    return iter(events) if passage.is_all else filter(Selection(passage).has, events)


def indexed_passage(index: IndexReader, run: int, passage: Passage) -> Iterator[Event]:
    """The events of a passage of an archived run (`runs.id`), found by the index and not by reading from the first."""
    first, last = _bounds(index, run, passage)
    for event in index.events(run, first, last):
        if passage.source is None or is_called(event.source, passage.source):
            yield event


def is_called(source: str, name: str) -> bool:
    """Whether a person means this source by the name."""
    if "main" in (source, name):
        return source == name
    return source.removeprefix("subagent:").startswith(name.removeprefix("subagent").removeprefix(":"))


def nothing_there(events: Iterable[Event]) -> str:
    """What to say when a passage of these events is empty."""
    selection = Selection(Passage())
    for event in events:
        selection.has(event)
    sources = list(selection.sources)
    shown = ", ".join(sources[:5]) + (" …" if len(sources) > 5 else "")
    number = "1 unit" if selection.units == 1 else f"{selection.units} units"
    return f"nothing of the run is in that passage; it has {number}, and its sources are {shown or 'none'}"


def _bounds(index: IndexReader, run: int, passage: Passage) -> tuple[int, int | None]:
    """The numbers between which the passage stands."""
    if passage.unit is None:
        return passage.first, passage.last
    query = f"SELECT seq FROM events WHERE run = ? AND {BEGINS_UNIT} ORDER BY seq LIMIT 2 OFFSET ?"
    prompts = [seq for (seq,) in index.index.execute(query, (run, max(0, passage.unit - 1)))]
    begin, end = (0, prompts[:1]) if passage.unit == 0 else ((prompts or [1 << 62])[0], prompts[1:])
    last = [number - 1 for number in end] + ([] if passage.last is None else [passage.last])
    return max(begin, passage.first), min(last, default=None)
