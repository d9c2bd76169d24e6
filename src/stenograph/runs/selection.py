"""A part of a run: the events of one source, of one unit, or between two numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from stenograph.fold.units import BEGINS_UNIT, begins_unit
from stenograph.model.event import Event

if TYPE_CHECKING:
    from stenograph.archive.reader import IndexReader


class Selection(Struct, frozen=True, kw_only=True):
    """Which events of a run to read; by default, all."""

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
        return self == Selection()


class Selector:
    """Selects events one by one; for one reading of one run."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self.units = 0
        """Units seen so far."""
        self.sources: dict[str, None] = {}
        """Sources seen so far, in their order."""

    def has(self, event: Event) -> bool:
        """Whether the next event of the run is selected."""
        selection = self._selection
        source = event.source
        self.sources[source] = None
        if begins_unit(event):
            self.units += 1
        return (
            selection.first <= event.seq
            and (selection.last is None or event.seq <= selection.last)
            and (selection.unit is None or selection.unit == self.units)
            and (selection.source is None or matches_source(source, selection.source))
        )


def selected(events: Iterable[Event], selection: Selection) -> Iterator[Event]:
    """The selected events of a whole run."""
    return iter(events) if selection.is_all else filter(Selector(selection).has, events)


def indexed_selection(index: IndexReader, run: int, selection: Selection) -> Iterator[Event]:
    """The selected events of an archived run (`runs.id`), found by the index instead of reading from the first."""
    first, last = _bounds(index, run, selection)
    for event in index.events(run, first, last):
        if selection.source is None or matches_source(event.source, selection.source):
            yield event


def matches_source(source: str, name: str) -> bool:
    """Whether a person's name for a source matches it."""
    if "main" in (source, name):
        return source == name
    return source.removeprefix("subagent:").startswith(name.removeprefix("subagent").removeprefix(":"))


def empty_message(events: Iterable[Event]) -> str:
    """The message when no event is selected."""
    selector = Selector(Selection())
    for event in events:
        selector.has(event)
    sources = list(selector.sources)
    shown = ", ".join(sources[:5]) + (" …" if len(sources) > 5 else "")
    number = "1 unit" if selector.units == 1 else f"{selector.units} units"
    return f"no event of the run is selected; it has {number}, and its sources are {shown or 'none'}"


def _bounds(index: IndexReader, run: int, selection: Selection) -> tuple[int, int | None]:
    """The numbers between which the selected events are."""
    if selection.unit is None:
        return selection.first, selection.last
    query = f"SELECT seq FROM events WHERE run = ? AND {BEGINS_UNIT} ORDER BY seq LIMIT 2 OFFSET ?"
    prompts = [seq for (seq,) in index.index.execute(query, (run, max(0, selection.unit - 1)))]
    begin, end = (0, prompts[:1]) if selection.unit == 0 else ((prompts or [1 << 62])[0], prompts[1:])
    last = [number - 1 for number in end] + ([] if selection.last is None else [selection.last])
    return max(begin, selection.first), min(last, default=None)
