"""Witnesses: the recordings of one run, and which of its events each has reported.

A run has any number of them: the agent's own files or database, what the agent printed, journals of ours. An event that
several report is in the run once. So the index notes for each witness which of the run's events it has not reported:
when the witness reports more, only those need to be compared with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

import msgspec

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.keep.walk import JOURNALS
from stenograph.archive.store.kept_file import KeptFile
from stenograph.formats.registry import formats

OWN, PRINTED, RECORDED = range(3)
_WRITE = "INSERT OR REPLACE INTO witnesses VALUES (?, ?, ?, ?, ?)"
Range = tuple[int, int]
"""The first and the last number."""


def agent_of(format: str) -> str:
    """The id of the agent that writes a format; of a format that is not installed, the format's name."""
    spec = formats().get(format)
    return format if spec is None else spec.agent.id


def agent_of_adapter(adapter: str | None) -> str | None:
    """The agent that the origin of an event in a journal names, if any."""
    return agent_of(adapter) if adapter is not None and adapter in formats() and adapter != JOURNALS else None


def rank_of(format: str) -> int:
    """Which witness leads where two report an event: the agent's own files, then what it printed, then journals."""
    if format == JOURNALS:
        return RECORDED
    spec = formats().get(format)
    return OWN if spec is not None and spec.is_placed else PRINTED


def name_of(files: Iterable[KeptFile]) -> str:
    """The witness to which the files of one session belong: all files in one format, but every journal is its own."""
    main = min(files, key=lambda file: file.id)
    return f"{JOURNALS} {main.about.main or main.id}" if main.about.format == JOURNALS else main.about.format


@dataclass(slots=True)
class Witness:
    """One witness of a run. The fields are the columns of `witnesses`; `unreported` is the column `untold`."""

    name: str
    upto: int = 0
    """It has reported no event after this number; `unreported` has those before it that are missing."""
    unreported: list[Range] = field(default_factory=list)
    """The events up to `upto` that it has not reported."""
    last: dict[str, int] = field(default_factory=dict)
    """The last event that it has reported, by source."""

    @property
    def rank(self) -> int:
        """The witness with the lowest rank leads."""
        return rank_of(self.name.partition(" ")[0])

    def missing(self, end: int) -> list[Range]:
        """The events of a run with this many events that it has not reported."""
        return [*self.unreported, *([(self.upto + 1, end)] if self.upto < end else [])]

    def renumbered(self, numbers: Mapping[int, int], end: int, old_end: int) -> None:
        """Take over the new numbers of a run that was put in another order: `numbers` has them by the old ones."""
        missing = self.missing(old_end)
        left = sorted({numbers[seq] for seq in numbers if is_in(seq, missing)})
        self.unreported, self.upto = ranges_of(left), end
        self.last = {source: numbers[seq] for source, seq in self.last.items() if seq in numbers}

    def write(self, index: IndexWriter, run: int) -> None:
        """Write the row."""
        unreported, last = (msgspec.json.encode(each).decode() for each in (self.unreported, self.last))
        index.add(_WRITE, (run, self.name, self.upto, unreported, last))


def witnesses_of(index: IndexWriter, run: int) -> dict[str, Witness]:
    """The witnesses of a run that is in the index, by name."""
    rows = index.execute("SELECT name, upto, untold, last FROM witnesses WHERE run = ? ORDER BY name", (run,))
    ranges = msgspec.json.Decoder(list[Range]).decode
    numbers = msgspec.json.Decoder(dict[str, int]).decode
    return {name: Witness(name, upto, ranges(untold), numbers(last)) for name, upto, untold, last in rows.fetchall()}


def is_in(number: int, ranges: list[Range]) -> bool:
    """Whether a number is in one of some ranges, which are in rising order."""
    place = bisect_right(ranges, number, key=itemgetter(0))
    return place > 0 and number <= ranges[place - 1][1]


def ranges_of(numbers: Iterable[int]) -> list[Range]:
    """Numbers in rising order as ranges."""
    found: list[Range] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found
