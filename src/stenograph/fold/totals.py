"""The totals of a run: one counter for every output, so that all give the same numbers.

Docs/reference/counting.md explains to users what each of them counts.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from stenograph.fold.calls import CallCounts, CallPairs, Joined
from stenograph.fold.messages import MessageCounter
from stenograph.fold.units import begins_unit
from stenograph.fold.usage import Usage, UsageCounter, UsageTotals, usage_totals
from stenograph.model.event import Event

NO_USAGE = usage_totals(())


class Totals(Struct, frozen=True, kw_only=True):
    """The totals of a run's events, its subagents included."""

    messages: int = 0
    """Messages of users and of agents; the records over which one is spread count once."""
    turns: int = 0
    """Messages to the main agent: the units of the run."""
    tool_calls: int = 0
    failed_calls: int = 0
    """Calls whose result is an error."""
    open_calls: int = 0
    """Calls without a result."""
    errors: int = 0
    """Error events and results that are an error."""
    subagents: int = 0
    """Sources other than `main`."""
    usage: UsageTotals = NO_USAGE

    @property
    def tokens(self) -> Usage:
        """All tokens, each counted once."""
        return self.usage.total


class TotalsCounter:
    """Counts the events of one run, or of several together, event by event."""

    def __init__(self) -> None:
        self.usage = UsageCounter()
        self._messages = MessageCounter()
        self._pairs = CallPairs()
        self._sources: set[tuple[str, str]] = set()
        self._calls = CallCounts()
        self._messages_seen = self._turns = self._errors = 0

    def add(self, event: Event) -> Joined | None:
        """Take the next event into account; returns the pair that a call or result joined, with `seq` as its mark."""
        self._turns += begins_unit(event)
        self._errors += event.type == "error"
        if event.source != "main":
            self._sources.add((event.run_id, event.source))
        if self._messages.is_new(event):
            self._messages_seen += 1
        joined = self._pairs.add(event, event.seq)
        if joined is not None:
            self._calls += joined.change
        elif event.type == "token.usage":
            self.usage.add(event)
        return joined

    def totals(self) -> Totals:
        """The totals so far."""
        return Totals(
            messages=self._messages_seen,
            turns=self._turns,
            tool_calls=self._calls.calls,
            failed_calls=self._calls.failed,
            open_calls=self._calls.open,
            errors=self._errors + self._calls.errors,
            subagents=len(self._sources),
            usage=self.usage.totals(),
        )


def totals_of(events: Iterable[Event]) -> Totals:
    """The totals of one run's events."""
    counter = TotalsCounter()
    for event in events:
        counter.add(event)
    return counter.totals()
