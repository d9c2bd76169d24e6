"""Tokens, each counted once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from stenograph.model.event import Event
from stenograph.model.payload import UsagePayload


class Usage(Struct, frozen=True, kw_only=True):
    """A sum of tokens."""

    input_tokens: int = 0
    """Cached input included."""
    output_tokens: int = 0
    """Reasoning included."""
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    reasoning_output_tokens: int = 0
    records: int = 0
    """Over how many reports: model calls, or what stands in for them where an agent does not report calls."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            reasoning_output_tokens=self.reasoning_output_tokens + other.reasoning_output_tokens,
            records=self.records + other.records,
        )


class UsageTotals(Struct, frozen=True, kw_only=True):
    """What runs took, in all and by model."""

    total: Usage
    by_model: dict[str, Usage]
    """The empty name holds what no model was named for."""


class _Reports(Struct):
    """The usage reports of one scope in one run that have no id, or the last of each that has."""

    keyed: dict[str, UsagePayload] = {}
    alone: list[UsagePayload] = []
    is_used: bool = False

    def add(self, payload: UsagePayload) -> None:
        self.is_used = True
        if payload.message_id:
            self.keyed[payload.message_id] = payload
        else:
            self.alone.append(payload)


class _Run(Struct):
    has_calls: bool = False
    turns: _Reports = field(default_factory=_Reports)
    total: UsagePayload | None = None


class UsageCounter:
    """Counts usage, event by event; `totals()` says what it comes to so far.

    A model call counts by its `message_id`, with the last numbers told, whichever run tells them: forks, replays and
    copied histories repeat the id. A run that reports no calls counts by its turns, else by its last total.
    """

    def __init__(self) -> None:
        self._calls = _Reports()
        self._runs: dict[str, _Run] = {}

    def add(self, event: Event) -> None:
        """Take the next event of any run into account."""
        payload = event.payload
        if event.type != "token.usage" or not isinstance(payload, UsagePayload):
            return
        run = self._runs.get(event.run_id)
        if run is None:
            run = self._runs[event.run_id] = _Run()
        match payload.scope:
            case "call":
                run.has_calls = True
                self._calls.add(payload)
            case "turn":
                run.turns.add(payload)
            case "total":
                run.total = payload

    def totals(self) -> UsageTotals:
        """What it comes to so far."""
        by_model: dict[str, Usage] = {}
        for payload in self.counting():
            model = payload.model or ""
            by_model[model] = by_model.get(model, Usage()) + _usage(payload)
        total = Usage()
        for usage in by_model.values():
            total += usage
        return UsageTotals(total=total, by_model=by_model)

    def counting(self) -> Iterator[UsagePayload]:
        """The reports that count so far, each as it was told."""
        yield from self._calls.keyed.values()
        yield from self._calls.alone
        turns: dict[str, UsagePayload] = {}
        for run in self._runs.values():
            if run.has_calls:
                continue
            if run.turns.is_used:
                turns |= run.turns.keyed
                yield from run.turns.alone
            elif run.total is not None:
                yield run.total
        yield from turns.values()


def usage_totals(events: Iterable[Event]) -> UsageTotals:
    """What the events of one or several runs took, each call counted once."""
    counter = UsageCounter()
    for event in events:
        counter.add(event)
    return counter.totals()


def _usage(payload: UsagePayload) -> Usage:
    return Usage(
        input_tokens=payload.input_tokens,
        output_tokens=payload.output_tokens,
        cache_read_input_tokens=payload.cache_read_input_tokens or 0,
        cache_creation_input_tokens=payload.cache_creation_input_tokens or 0,
        reasoning_output_tokens=payload.reasoning_output_tokens or 0,
        records=1,
    )
