"""The first pass over a run's events, which finds what a page needs before its first line.

Theory of operation. A page is written in one go, from events that come one by one, so everything that is shown before
its place (totals, contents, whether a call failed) is found beforehand. Only small facts are kept: some per unit and
per subagent, and per call only what is unusual. Events are identified by their ordinal, their position in the stream;
a `seq` may be missing or come twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from stenograph.fold.actions import QUESTION, SUBAGENT, tool_of
from stenograph.fold.calls import Joined, PairState
from stenograph.fold.prices import Cost, Prices
from stenograph.fold.span import SpanCounter
from stenograph.fold.status import Life, RunStatus
from stenograph.fold.totals import TotalsCounter
from stenograph.fold.units import begins_unit
from stenograph.fold.usage import UsageCounter
from stenograph.model.block import TextBlock, ToolResultBlock, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.payload import ErrorPayload, LifecyclePayload, MessagePayload, SystemPayload, ToolPayload
from stenograph.render.names import is_aside
from stenograph.render.page_facts import Key, PageFacts, SourceFacts, UnitFacts, on_a_line
from stenograph.render.tool_input import task_of

TITLE_LENGTH = 90
_NAMES_KEPT = 8
_LONGEST_ANSWER = 20_000
_DEEPEST = 12


def page_facts_of(events: Iterable[Event], prices: Prices | None = None, life: Life | None = None) -> PageFacts:
    """Read the events of a run once, and return what a page needs to begin.

    `life` is what is known about the run's process; None where the events are a part of a run, which has no status.
    """
    first_pass = _FirstPass(life, prices)
    for ordinal, event in enumerate(events):
        first_pass.add(ordinal, event)
    return first_pass.page_facts()


class _Unit(Struct):
    number: int
    title: str = ""
    times: SpanCounter = field(default_factory=SpanCounter)
    calls: int = 0
    errors: int = 0
    usage: UsageCounter = field(default_factory=UsageCounter)
    before: datetime | None = None
    """When the previous unit ended."""

    def facts(self, prices: Prices | None) -> UnitFacts:
        return UnitFacts(
            number=self.number,
            title=self.title,
            span=self.times.span,
            calls=self.calls,
            errors=self.errors,
            usage=self.usage.totals().total,
            cost=Cost(None) if prices is None else prices.total(self.usage.counting()),
            idle=self._idle,
        )

    @property
    def _idle(self) -> float | None:
        began = self.times.moments[0]
        return None if began is None or self.before is None else (began - self.before).total_seconds()


class _Source(Struct):
    times: SpanCounter = field(default_factory=SpanCounter)
    calls: int = 0
    end: int = 0
    parent: str = ""
    parent_call: Key | None = None
    asked: str = ""
    """The beginning of its first prompt."""
    usage: UsageCounter = field(default_factory=UsageCounter)


class _FirstPass:
    """The first pass, event by event."""

    def __init__(self, life: Life | None, prices: Prices | None) -> None:
        self._life = life
        self._prices = prices
        self._status = RunStatus()
        self._count = 0
        self._run_id = self._name = ""
        self._times = SpanCounter()
        self._cwd: str | None = None
        self._agents: dict[str, None] = {}
        self._models: dict[str, None] = {}
        self._totals = TotalsCounter()
        self._unit = _Unit(0)
        self._units: list[UnitFacts] = []
        self._sources: dict[Key, _Source] = {}
        self._open: dict[int, PairState] = {}
        """Calls that wait for their result, by the ordinal of their first report."""
        self._ordinal_of: dict[int, int] = {}
        """The ordinal of a call's first report, by the `id()` of its pair; only for calls with an id."""
        # What `PageFacts` has under these names.
        self._unanswered: set[int] = set()
        self._late: set[int] = set()
        self._failed: set[int] = set()
        self._orphans: set[tuple[int, str]] = set()
        self._blocks: dict[tuple[str, str, str], int] = {}
        """Tool blocks whose event has not come: by its type, the run and the tool id, the ordinal of the message."""
        self._tasks: dict[Key, str] = {}
        """The tasks of subagents, by the call that spawned them."""
        self._together: dict[Key, list[int]] = {}
        """By source, the calls since its last result."""
        self._parallel: dict[int, tuple[int, int]] = {}
        self._questions: set[int] = set()
        """Calls that ask a person."""
        self._answers: dict[int, Any] = {}
        self._asides = 0

    def add(self, ordinal: int, event: Event) -> None:
        if begins_unit(event):
            self._begin_unit(event)
        self._count += 1
        self._run_id = self._run_id or event.run_id
        if event.run_id == self._run_id:
            self._status.add(event)
        self._times.add(event)
        unit = self._unit
        unit.times.add(event)
        self._note_source(ordinal, event)
        joined = self._totals.add(event)
        self._asides += is_aside(event)
        payload = event.payload
        match payload:
            case MessagePayload():
                self._message(ordinal, event, payload)
            case ToolPayload() if joined is not None:
                self._tool(ordinal, event, payload, joined)
            case ErrorPayload() if event.type == "error":
                unit.errors += 1
            case LifecyclePayload() if event.type == "run.started":
                self._name = self._name or payload.name
            case SystemPayload(data={"cwd": str(cwd)}) if self._cwd is None and cwd:
                self._cwd = cwd
        if event.type == "token.usage":
            unit.usage.add(event)
            if (speaker := self._sources.get((event.run_id, event.source))) is not None:
                speaker.usage.add(event)

    def page_facts(self) -> PageFacts:
        self._end_calls(None)
        for key in list(self._together):
            self._end_group(key)
        prices = self._prices
        self._orphans.update((ordinal, key[2]) for key, ordinal in self._blocks.items())
        self._extend_sources()
        spawned: dict[Key, int] = {}
        for each in self._sources.values():
            if each.parent_call is not None:
                spawned[each.parent_call] = max(each.end, spawned.get(each.parent_call, 0))
        return PageFacts(
            run_id=self._run_id,
            name=self._name,
            agents=tuple(self._agents),
            models=tuple(self._models),
            cwd=self._cwd,
            span=self._times.span,
            verdict=None if self._life is None else self._status.verdict(self._life),
            events=self._count,
            totals=self._totals.totals(),
            cost=Cost(None) if prices is None else prices.total(self._totals.usage.counting()),
            units=tuple([*self._units, self._unit.facts(prices)] if self._count else ()),
            sources={
                key: SourceFacts(
                    span=each.times.span,
                    calls=each.calls,
                    last=each.end,
                    task=self._task(each),
                    usage=each.usage.totals().total,
                    cost=Cost(None) if prices is None else prices.total(each.usage.counting()),
                )
                for key, each in self._sources.items()
            },
            spawned=spawned,
            unanswered=frozenset(self._unanswered),
            late=frozenset(self._late),
            failed=frozenset(self._failed),
            orphans=frozenset(self._orphans),
            parallel=self._parallel,
            answers=self._answers,
            asides=self._asides,
        )

    def _task(self, source: _Source) -> str:
        task = "" if source.parent_call is None else self._tasks.get(source.parent_call, "")
        return task or source.asked

    def _end_group(self, key: Key) -> None:
        """End a group: calls of a source without a result or message between them were made together."""
        calls = self._together.pop(key, [])
        if len(calls) > 1:
            self._parallel.update((ordinal, (number, len(calls))) for number, ordinal in enumerate(calls, 1))

    def _extend_sources(self) -> None:
        """Extend each source to the end of those that it spawned, down to `_DEEPEST`: a page does not nest deeper."""
        for _ in range(_DEEPEST):
            for (run_id, _), each in self._sources.items():
                parent = self._sources.get((run_id, each.parent))
                if parent is not None:
                    parent.end = max(parent.end, each.end)

    def _begin_unit(self, event: Event) -> None:
        if self._count:
            self._units.append(self._unit.facts(self._prices))
        before = self._unit.times.moments[1] if self._unit.number else None
        self._unit = _Unit(self._unit.number + 1, title_of(event.payload), before=before)
        self._end_calls("main")

    def _end_calls(self, source: str | None) -> None:
        """Stop waiting for the results of a source's open calls; None: of all sources."""
        for ordinal in [ordinal for ordinal, pair in self._open.items() if source in (None, pair.source)]:
            self._unanswered.add(ordinal)
            del self._open[ordinal]

    def _note_source(self, ordinal: int, event: Event) -> None:
        """Note the adapter of an event and, unless it is `main`, its source."""
        origin = event.origin
        if origin is None:
            return
        if origin.adapter and len(self._agents) < _NAMES_KEPT:
            self._agents[origin.adapter] = None
        source = event.source
        if source == "main":
            return
        key = (event.run_id, source)
        known = self._sources.get(key)
        if known is None:
            known = self._sources[key] = _Source()
        known.times.add(event)
        known.end = ordinal
        known.parent = known.parent or origin.parent_source or ""
        if origin.parent_call_id and known.parent_call is None:
            known.parent_call = (event.run_id, origin.parent_call_id)

    def _message(self, ordinal: int, event: Event, payload: MessagePayload) -> None:
        if payload.real_model and len(self._models) < _NAMES_KEPT:
            self._models[payload.real_model] = None
        if event.type == "message.user":
            source = (event.run_id, event.source)
            self._end_group(source)
            if (speaker := self._sources.get(source)) is not None:
                speaker.asked = speaker.asked or title_of(payload)
        for block in payload.blocks:
            if isinstance(block, ToolUseBlock | ToolResultBlock):
                kind = "tool.call" if isinstance(block, ToolUseBlock) else "tool.result"
                key = (kind, event.run_id, block.tool_id)
                before = self._blocks.get(key)
                if before is not None:
                    self._orphans.add((before, block.tool_id))
                self._blocks[key] = ordinal

    def _tool(self, ordinal: int, event: Event, payload: ToolPayload, joined: Joined) -> None:
        self._blocks.pop((event.type, event.run_id, payload.call_id), None)
        self._unit.calls += joined.change.calls
        self._unit.errors += joined.change.errors
        if event.source != "main" and (speaker := self._sources.get((event.run_id, event.source))) is not None:
            speaker.calls += joined.change.calls
        self._wait(ordinal, joined)
        source = (event.run_id, event.source)
        if not joined.is_call:
            self._end_group(source)
            self._answer(joined, payload)
        elif joined.change.calls:
            self._together.setdefault(source, []).append(ordinal)
            if tool_of(event).kind == SUBAGENT:
                self._tasks[event.run_id, payload.call_id] = task_of(payload.input)
            elif tool_of(event).kind == QUESTION:
                self._questions.add(ordinal)

    def _answer(self, joined: Joined, payload: ToolPayload) -> None:
        """Keep the result of a question, unless it is too long to be the answer of a person."""
        at = self._ordinal_of.get(id(joined.pair))
        output = payload.output
        if at in self._questions and not (isinstance(output, str) and len(output) > _LONGEST_ANSWER):
            self._answers[at] = output

    def _wait(self, ordinal: int, joined: Joined) -> None:
        """Note whether a call has a result, whether the result can be shown below it, and whether it failed."""
        pair = joined.pair
        if not pair.call_id:
            if joined.is_call:
                self._unanswered.add(ordinal)
            return
        if joined.change.calls:
            self._ordinal_of[id(pair)] = ordinal
            if pair.has_result:
                self._late.add(ordinal)
            else:
                self._open[ordinal] = pair
        at = self._ordinal_of.get(id(pair))
        if at is None or not pair.has_result:
            return
        self._open.pop(at, None)
        if at in self._unanswered:
            self._unanswered.remove(at)
            self._late.add(at)
        if pair.error is None:
            self._failed.discard(at)
        else:
            self._failed.add(at)


def title_of(payload: object) -> str:
    """The beginning of a message's text, on one line."""
    if not isinstance(payload, MessagePayload):
        return ""
    texts = (block.text for block in payload.said if isinstance(block, TextBlock) and block.text.strip())
    return on_a_line(next(texts, ""), TITLE_LENGTH)
