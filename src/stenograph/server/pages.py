"""The pages of a run: 20 units or 400 events each, found by the index of units and not by reading the run.

Theory of operation. The numbers of the prompts are in an index of their own (`events_unit`), so where every page begins
is known after reading one number per unit. Pages are cut from the first event on, so they stay as they are while the
run grows. A page ends before a prompt where it can; a unit of more than 400 events is cut where it must be.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from stenograph.archive.reader import IndexReader
from stenograph.fold.units import BEGINS_UNIT
from stenograph.model.event import Event
from stenograph.runs.selection import matches_source

UNITS, EVENTS = 20, 400
"""What a page holds at most."""
DENSITIES = ("brief", "normal", "all")
"""How much of a page is unfolded."""


class Page(Struct, frozen=True, kw_only=True):
    """One page of a run."""

    number: int
    """From 0."""
    first: int
    """The number of its first event."""
    last: int
    unit: int
    """The number of its first unit; 0 is what came before the first prompt."""
    is_continued: bool
    """Whether it begins in the middle of a unit."""


def pages_of(prompts: Sequence[int], last: int) -> list[Page]:
    """The pages of a run, by the numbers of its prompts and of its last event."""
    found: list[Page] = []
    first = 1
    while first <= last:
        unit = bisect_right(prompts, first)  # also the place of the next prompt in the list
        most = unit + UNITS - 1
        end = min(prompts[most] if most < len(prompts) else last + 1, last + 1)  # the next page begins there
        if end - first > EVENTS:
            fitting = bisect_right(prompts, first + EVENTS) - 1
            end = prompts[fitting] if fitting >= unit else first + EVENTS
        is_prompt = unit > 0 and prompts[unit - 1] == first
        found.append(
            Page(number=len(found), first=first, last=end - 1, unit=unit, is_continued=first > 1 and not is_prompt)
        )
        first = end
    return found


class RunPages:
    """The pages of one archived run (`runs.id`), and the events on them."""

    def __init__(self, reader: IndexReader, run: int) -> None:
        self._reader = reader
        self._run = run
        query = f"SELECT seq FROM main.events WHERE run = ? AND {BEGINS_UNIT} ORDER BY seq"
        self.prompts = [seq for (seq,) in reader.index.execute(query, (run,))]
        row = reader.index.execute("SELECT last_seq, revision FROM main.runs WHERE id = ?", (run,)).fetchone()
        self.last: int = row[0]
        self.revision: int = row[1]
        self.pages = pages_of(self.prompts, self.last)

    def holding(self, seq: int) -> Page | None:
        """The page of an event; None if there is no such event."""
        if not 1 <= seq <= self.last:
            return None
        return self.pages[bisect_right([page.first for page in self.pages], seq) - 1]

    def of_unit(self, unit: int) -> Page | None:
        """The page on which a unit begins."""
        if not 0 <= unit <= len(self.prompts):
            return None
        return self.holding(self.prompts[unit - 1] if unit else 1)

    def unit_of(self, seq: int) -> int:
        """The number of the unit of an event."""
        return bisect_right(self.prompts, seq)

    def events(self, page: Page) -> list[Event]:
        """The events of a page, then the results of its calls from later pages."""
        events = list(self._reader.events(self._run, page.first, page.last))
        return events + list(self._later_results(page))

    def _later_results(self, page: Page) -> Iterator[Event]:
        is_cut = page.number + 1 < len(self.pages) and self.pages[page.number + 1].is_continued
        if not is_cut:
            return
        unit = self.unit_of(page.last)
        begin = max(page.first, self.prompts[unit - 1] if unit else 1)
        end = self.prompts[unit] if unit < len(self.prompts) else self.last + 1
        query = """
            SELECT calls.result FROM main.events AS call JOIN main.calls AS calls ON calls.run = call.run
              AND calls.call_id = call.call_id AND calls.call = call.id
            JOIN main.events AS result ON result.id = calls.result
            WHERE call.run = ? AND call.type = 'tool.call' AND call.seq BETWEEN ? AND ?
              AND result.seq > ? AND result.seq < ? ORDER BY result.seq
        """
        for (number,) in self._reader.index.execute(query, (self._run, begin, page.last, page.last, end)).fetchall():
            event = self._reader.event(number)
            if event is not None:
                yield event

    def numbers(self, types: Sequence[str]) -> frozenset[int]:
        """The numbers of all events of some kinds."""
        wanted = " OR ".join(TYPES[name] for name in types)
        query = f"SELECT seq FROM main.events WHERE run = ? AND ({wanted})"
        return frozenset(seq for (seq,) in self._reader.index.execute(query, (self._run,)))

    def picked(self, types: Sequence[str], source: str | None, first: int) -> tuple[list[Event], int | None]:
        """Up to 400 events of some kinds and of one source, from a number on; and where the next ones begin."""
        wanted = [TYPES[name] for name in types if name in TYPES]
        condition = f"({' OR '.join(wanted)})" if wanted else "1"
        query = f"SELECT id, seq, source FROM main.events WHERE run = ? AND seq >= ? AND {condition} ORDER BY seq"
        found: list[Event] = []
        for number, seq, speaker in self._reader.index.execute(query, (self._run, first)):
            if source is not None and not matches_source(speaker, source):
                continue
            if len(found) == EVENTS:
                return found, seq
            event = self._reader.event(number)
            if event is not None:
                found.append(event)
        return found, None


TYPES = {
    "prompts": "type = 'message.user'",
    "answers": "type = 'message.assistant'",
    "tools": "type IN ('tool.call', 'tool.result')",
    "errors": "error",
    "notes": "type NOT IN ('message.user', 'message.assistant', 'tool.call', 'tool.result', 'error')",
}
"""What can be picked from a run, each as a condition on its events."""
