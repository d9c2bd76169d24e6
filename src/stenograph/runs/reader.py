"""RunReader: one run, read in the same way wherever it is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from stenograph.closing import Closing
from stenograph.errors import SourceError
from stenograph.fold.calls import CallPair, pair_calls
from stenograph.fold.messages import Message, messages
from stenograph.fold.tree import RunNode
from stenograph.fold.units import Unit, units
from stenograph.fold.usage import UsageTotals, usage_totals
from stenograph.model.codec import encode
from stenograph.model.event import Event
from stenograph.runs.following import Following
from stenograph.runs.info import RunInfo
from stenograph.runs.kind import RunKind
from stenograph.runs.problem import Problem
from stenograph.runs.selection import Selection, Selector
from stenograph.transcript.entry import TranscriptEntry
from stenograph.transcript.project import Projector

if TYPE_CHECKING:
    from stenograph.runs.mask import RunMask


class RunReader(Closing):
    """One run: a journal, an agent's own file, a session of a database, a bundle, or a run of the archive.

    Every method reads again, so a run that grew gives more; `info` is as of its first use. Numbers
    (`seq`) are those of the opened file or archive; an entry has the same `entry_id` in every kind. For one
    thread at a time. Close it, or use it in a `with`.
    """

    def __init__(self, kind: RunKind, mask: RunMask | None = None) -> None:
        """`open_run` makes readers."""
        self.kind = kind
        """Where the run is kept, and what differs for that kind."""
        self._mask = mask

    @cached_property
    def info(self) -> RunInfo:
        """What the run is, and its totals."""
        info = self.kind.info()
        return info if self._mask is None else self._mask.info(info)

    def events(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        source: str | None = None,
        unit: int | None = None,
        keep_raw: bool = True,
    ) -> Iterator[Event]:
        """The events in order, or a part of them: between two numbers, of one source, of one unit.

        `source` is `main`, or a subagent by its id or the beginning of it; `subagent` is any. `keep_raw`: with the
        source lines, where they are available.
        """
        selection = Selection(first=from_seq or 0, last=to_seq, source=source, unit=unit)
        if self._mask is None:
            return self.kind.events(selection, keep_raw=keep_raw)
        self._mask.learn(self._whole)
        return self._mask.events(self.kind.events(selection, keep_raw=keep_raw))

    def _whole(self) -> Iterator[Event]:
        return self.kind.events(Selection(), keep_raw=False)

    @property
    def masked(self) -> Counter[str]:
        """How much was masked in the events that were read, by rule."""
        return Counter() if self._mask is None else self._mask.counts

    def entries(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        source: str | None = None,
        unit: int | None = None,
    ) -> Iterator[TranscriptEntry]:
        """The entries of these events; they have the numbers that they have in the whole run."""
        selector = Selector(Selection(first=from_seq or 0, last=to_seq, source=source, unit=unit))
        projector = Projector()
        events = self.kind.events(Selection(), keep_raw=True)
        if self._mask is not None:
            self._mask.learn(self._whole)
        pairs = ((event, event) for event in events) if self._mask is None else self._mask.pairs(events)
        for shown, event in pairs:
            entries = projector.feed(shown)
            if selector.has(event):
                yield from entries

    def lines(self, from_seq: int = 1) -> Iterator[tuple[Event, bytes]]:
        """The numbered events from `from_seq` on, each with its JSON line: a journal's own, byte for byte."""
        if self._mask is not None:
            self._mask.learn(self._whole)
            events = (event for event, _ in self.kind.lines() if event.seq >= from_seq)
            yield from ((event, encode(event)) for event in self._mask.events(events))
            return
        for event, line in self.kind.lines():
            if event.seq >= from_seq:
                yield event, encode(event) if line is None else line

    def messages(self) -> list[Message]:
        """The messages, each whole, in the order in which they began."""
        return messages(self.events(keep_raw=False))

    def calls(self) -> list[CallPair]:
        """The tool calls with their results, in order."""
        return pair_calls(self.events(keep_raw=False))

    def units(self) -> Iterator[Unit]:
        """The units: one user message each, with everything up to the next one."""
        return units(self.events(keep_raw=False))

    def usage(self) -> UsageTotals:
        """The tokens, each model call counted once."""
        return usage_totals(self.events(keep_raw=False))

    def tree(self) -> RunNode:
        """The steps or subagents of the run, and the runs that it called."""
        node = self.kind.tree()
        return node if self._mask is None else self._mask.tree(node)

    def follow(self, from_seq: int = 1, *, on_problem: Callable[[SourceError], None] | None = None) -> Following:
        """The events from a number on: existing ones, then new ones, until `close()` of the result.

        `on_problem` is called with what cannot be read at the moment; without it, that is raised.
        """
        masked = None if self._mask is None else self._mask.events
        return Following(self.kind.growth(from_seq), masked, on_problem)

    def problems(self) -> tuple[Problem, ...]:
        """Parts of the run that could not be read correctly."""
        return self.kind.problems()

    def close(self) -> None:
        """Close what was opened; may be called twice."""
        self.kind.close()
