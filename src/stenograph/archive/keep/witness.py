"""Witnesses: whatever tells of a run, and how far each has told it.

A run has any number of them: the agent's own files or database, what the agent printed, journals of ours. What they
say is in the run once. So the index knows for each witness which of the run's events it has not told: when it says
more, only those need to be compared with it.
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
    """The id of the agent that writes a format; the name of a format that is not installed is all that is known."""
    spec = formats().get(format)
    return format if spec is None else spec.agent.id


def told_agent(adapter: str | None) -> str | None:
    """The agent that the origin of an event in a journal names, if it does."""
    return agent_of(adapter) if adapter is not None and adapter in formats() and adapter != JOURNALS else None


def rank_of(format: str) -> int:
    """Who leads where two tell the same: the agent's own files, then what it printed, then journals."""
    if format == JOURNALS:
        return RECORDED
    spec = formats().get(format)
    return OWN if spec is not None and spec.is_placed else PRINTED


def name_of(files: Iterable[KeptFile]) -> str:
    """The witness that the files of one session are: all files in one format together, but every journal by itself."""
    main = min(files, key=lambda file: file.id)
    return f"{JOURNALS} {main.about.main or main.id}" if main.about.format == JOURNALS else main.about.format


@dataclass(slots=True)
class Witness:
    """One witness of a run. The fields are the columns of `witnesses`."""

    name: str
    upto: int = 0
    """Of the events up to this number it is known which it has told; it has told none after it."""
    untold: list[Range] = field(default_factory=list)
    """Those up to there that it has not told."""
    last: dict[str, int] = field(default_factory=dict)
    """By source, the last event that it has told."""

    @property
    def rank(self) -> int:
        """Who leads: the lowest."""
        return rank_of(self.name.partition(" ")[0])

    def missing(self, end: int) -> list[Range]:
        """What it has not told of a run with so many events."""
        return [*self.untold, *([(self.upto + 1, end)] if self.upto < end else [])]

    def renumbered(self, numbers: Mapping[int, int], end: int, old_end: int) -> None:
        """Take over the new numbers of a run that was put in another order: `numbers` has them by the old ones."""
        missing = self.missing(old_end)
        left = sorted({numbers[seq] for seq in numbers if is_in(seq, missing)})
        self.untold, self.upto = ranges_of(left), end
        self.last = {source: numbers[seq] for source, seq in self.last.items() if seq in numbers}

    def write(self, index: IndexWriter, run: int) -> None:
        """Write the row."""
        told = (msgspec.json.encode(self.untold).decode(), msgspec.json.encode(self.last).decode())
        index.add(_WRITE, (run, self.name, self.upto, *told))


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
