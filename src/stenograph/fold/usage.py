"""Tokens, each counted once.

Theory of operation. Agents report a model call's usage several times, and forks, resumes and replays report it again
in other runs. `UsageKeys` says which call a report belongs to, `Report.after` which of two reports of one call counts.
`UsageCounter` applies both to events; the archive applies the same two to its rows. docs/reference/counting.md
explains it to users.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping

from msgspec import Struct

from stenograph.model.event import Event
from stenograph.model.ids import is_unique
from stenograph.model.moment import milliseconds_of
from stenograph.model.payload import TOKEN_COUNTS, UsagePayload


class Usage(Struct, frozen=True, kw_only=True):
    """A sum of tokens."""

    input_tokens: int = 0
    """Cached input included."""
    output_tokens: int = 0
    """Reasoning included."""
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    """Those written for an hour included."""
    cache_creation_1h_input_tokens: int = 0
    reasoning_output_tokens: int = 0
    records: int = 0
    """The number of reports: model calls, or what replaces them where an agent does not report calls."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_input_tokens=self.cache_read_input_tokens + other.cache_read_input_tokens,
            cache_creation_input_tokens=self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            cache_creation_1h_input_tokens=self.cache_creation_1h_input_tokens + other.cache_creation_1h_input_tokens,
            reasoning_output_tokens=self.reasoning_output_tokens + other.reasoning_output_tokens,
            records=self.records + other.records,
        )


class UsageTotals(Struct, frozen=True, kw_only=True):
    """The usage of runs, in all and by model."""

    total: Usage
    by_model: dict[str, Usage]
    """The empty name holds usage without a model."""


class Report(Struct, frozen=True):
    """A report of usage: of a model call, of a turn, or of the run so far."""

    run_id: str
    """The run that reports."""
    moment: int
    """When it was reported, in milliseconds since 1970."""
    payload: UsagePayload

    def after(self, before: Report) -> Report:
        """Which of two reports of one call counts, given this one and the one that counted until now.

        In one run the last one, also when its numbers are smaller. Another run holds a copy, which may have been cut
        before the last report: it counts only where it was reported later. Remaining ties are settled by the run's id,
        so the order in which runs are read makes no difference.
        """
        is_last = self.run_id == before.run_id or (self.moment, self.run_id) > (before.moment, before.run_id)
        return self if is_last else before


class UsageKeys:
    """Names the call, turn or run that a report belongs to, the same in every run that reports it.

    An id of a call that is unique by itself names the call everywhere. Any other id holds only inside its run;
    there, the call is named by its id together with the time and the numbers of its first report, which copies in
    forks and resumes have in common and other calls with the same id do not.
    """

    def __init__(self, known: MutableMapping[tuple[str, str], str] | None = None) -> None:
        self._known = {} if known is None else known
        """The key of each id that is not unique by itself, by run and id."""

    def key(self, event: Event, payload: UsagePayload, moment: int | None, place: int) -> str:
        """The key; `moment` is None where the source gives no time, `place` names reports without an id."""
        if payload.scope == "total":
            return f"total {event.run_id}"
        if not payload.message_id:
            return f"{payload.scope} {event.run_id} #{place}"
        name = f"{payload.scope} {payload.message_id}"
        if is_unique(payload.message_id):
            return name
        key = self._known.get((event.run_id, name))
        if key is None:
            key = self._known[event.run_id, name] = self._first_key(name, event, payload, moment)
        return key

    def _first_key(self, name: str, event: Event, payload: UsagePayload, moment: int | None) -> str:
        if moment is None or (event.origin is not None and event.origin.time == "given"):
            return f"{name} {event.run_id}"
        return f"{name} {moment} {' '.join(str(getattr(payload, count) or 0) for count in TOKEN_COUNTS)}"


class _Call(Struct):
    first: Report
    """Of the run that reported it first, to which it belongs."""
    last: Report
    """The one that counts."""


class _Run(Struct):
    has_calls: bool = False
    has_turns: bool = False


class UsageCounter:
    """Counts usage, event by event; `totals()` gives the sums so far.

    A run that reports no calls counts by its turns, else by its last total.
    """

    def __init__(self) -> None:
        self._keys = UsageKeys()
        self._calls: dict[str, _Call] = {}
        self._runs: dict[str, _Run] = {}
        self._reports = 0

    def add(self, event: Event) -> None:
        """Take the next event of any run into account."""
        payload = event.payload
        if event.type != "token.usage" or not isinstance(payload, UsagePayload):
            return
        self._reports += 1
        run = self._runs.setdefault(event.run_id, _Run())
        run.has_calls |= payload.scope == "call"
        run.has_turns |= payload.scope == "turn"
        moment = milliseconds_of(event.timestamp)
        key = self._keys.key(event, payload, moment, self._reports)
        report = Report(event.run_id, moment or 0, payload)
        known = self._calls.get(key)
        if known is None:
            self._calls[key] = _Call(report, report)
        else:
            known.last = report.after(known.last)
            if report.run_id != known.first.run_id and report.moment < known.first.moment:
                known.first = report

    def totals(self) -> UsageTotals:
        """The sums so far."""
        by_model: dict[str, Usage] = {}
        for report in self._counting():
            model = report.payload.model or ""
            by_model[model] = by_model.get(model, Usage()) + usage_of(report.payload)
        total = Usage()
        for usage in by_model.values():
            total += usage
        return UsageTotals(total=total, by_model=by_model)

    def counting(self) -> Iterator[UsagePayload]:
        """The reports that count so far, each as it was made."""
        for report in self._counting():
            yield report.payload

    def _counting(self) -> Iterator[Report]:
        for call in self._calls.values():
            run = self._runs[call.first.run_id]
            match call.last.payload.scope:
                case "call":
                    yield call.last
                case "turn" if not run.has_calls:
                    yield call.last
                case "total" if not run.has_calls and not run.has_turns:
                    yield call.last


def usage_totals(events: Iterable[Event]) -> UsageTotals:
    """What the events of one or several runs took, each call counted once."""
    counter = UsageCounter()
    for event in events:
        counter.add(event)
    return counter.totals()


def usage_of(payload: UsagePayload) -> Usage:
    """The tokens of one report."""
    return Usage(
        input_tokens=payload.input_tokens,
        output_tokens=payload.output_tokens,
        cache_read_input_tokens=payload.cache_read_input_tokens or 0,
        cache_creation_input_tokens=payload.cache_creation_input_tokens or 0,
        cache_creation_1h_input_tokens=payload.cache_creation_1h_input_tokens or 0,
        reasoning_output_tokens=payload.reasoning_output_tokens or 0,
        records=1,
    )
