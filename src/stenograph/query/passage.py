"""A part of a run: what one source said, one unit, or the events between two numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from stenograph.errors import InvalidQuery
from stenograph.fold.units import BEGINS_UNIT, begins_unit
from stenograph.model.event import Event

if TYPE_CHECKING:
    from stenograph.archive.archive import Archive


class Passage(Struct, frozen=True, kw_only=True):
    """Which events of a run are meant; without anything, all."""

    source: str | None = None
    """`main`, or a subagent by its id or the beginning of it, with or without `subagent:`; `subagent` is any."""
    unit: int | None = None
    """1, 2, 3 … by the messages to the main agent; 0 is what came before the first."""
    first: int = 0
    """The number of the first event; lines that are no events have the number 0."""
    last: int | None = None

    @property
    def is_all(self) -> bool:
        """Whether it leaves nothing out."""
        return self == Passage()


class Selection:
    """Picks the events of a passage, as they come; for one reading of one run."""

    def __init__(self, passage: Passage) -> None:
        self._passage = passage
        self._unit = 0
        self._sources: dict[str, None] = {}
        self._kept = 0

    def has(self, event: Event) -> bool:
        """Whether the next event of the run is in the passage."""
        passage = self._passage
        source = event.source
        self._sources[source] = None
        if begins_unit(event):
            self._unit += 1
        is_in = (
            passage.first <= event.seq
            and (passage.last is None or event.seq <= passage.last)
            and (passage.unit is None or passage.unit == self._unit)
            and (passage.source is None or is_called(source, passage.source))
        )
        self._kept += is_in
        return is_in

    def check(self) -> None:
        """Raise `InvalidQuery` when the run was read to its end and nothing of it was in the passage."""
        if not self._kept and not self._passage.is_all:
            raise InvalidQuery(nothing_there(self._unit, list(self._sources)))


def read_passage(archive: Archive, run: int, passage: Passage) -> Iterator[Event]:
    """The events of a passage of a run (`runs.id`), found by the index and not by reading on from the first.

    Raises `InvalidQuery` when there are none.
    """
    first, last = _bounds(archive, run, passage)
    is_empty = not passage.is_all
    for event in archive.events(run, first, last):
        if passage.source is None or is_called(event.source, passage.source):
            is_empty = False
            yield event
    if is_empty:
        units = f"SELECT count(*) FROM events WHERE run = ? AND {BEGINS_UNIT}"
        sources = "SELECT source FROM sources WHERE run = ? ORDER BY first_seq"
        names = [name for (name,) in archive.index.execute(sources, (run,))]
        raise InvalidQuery(nothing_there(archive.index.execute(units, (run,)).fetchone()[0], names))


def is_called(source: str, name: str) -> bool:
    """Whether a person means this source by the name."""
    if "main" in (source, name):
        return source == name
    return source.removeprefix("subagent:").startswith(name.removeprefix("subagent").removeprefix(":"))


def nothing_there(units: int, sources: list[str]) -> str:
    """What to say when a passage is empty."""
    shown = ", ".join(sources[:5]) + (" …" if len(sources) > 5 else "")
    number = "1 unit" if units == 1 else f"{units} units"
    return f"nothing of the run is in that passage; it has {number}, and its sources are {shown or 'none'}"


def _bounds(archive: Archive, run: int, passage: Passage) -> tuple[int, int | None]:
    """The numbers between which the passage stands."""
    if passage.unit is None:
        return passage.first, passage.last
    query = f"SELECT seq FROM events WHERE run = ? AND {BEGINS_UNIT} ORDER BY seq LIMIT 2 OFFSET ?"
    prompts = [seq for (seq,) in archive.index.execute(query, (run, max(0, passage.unit - 1)))]
    begin, end = (0, prompts[:1]) if passage.unit == 0 else ((prompts or [1 << 62])[0], prompts[1:])
    last = [number - 1 for number in end] + ([] if passage.last is None else [passage.last])
    return max(begin, passage.first), min(last, default=None)
