"""The order of a page: results with their calls, subagents below the call that spawned them.

Theory of operation. Events come in the order of time, a page has the order of a tree. So the page is a tree of deferred
texts; each piece goes to its place in the tree, and everything before the first open place is written at once. The page
facts say what each place waits for: a call for its result (unless it has none in its unit) and for the last event of
its subagents. At most `HOLD` characters wait behind an open place: beyond that the place is closed, and what comes too
late for it is written where it happens. So memory is bounded for any run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from stenograph.fold.calls import CallPairs, Joined
from stenograph.fold.units import begins_unit
from stenograph.model.block import ToolResultBlock, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, ToolPayload
from stenograph.render.deferred import Anchors, DeferredText
from stenograph.render.names import is_aside
from stenograph.render.page_facts import Key, PageFacts
from stenograph.render.page_writer import CallFacts, PageWriter

HOLD = 16_000_000
QUIET_GROUP = 50
"""The most asides in one group."""
DEEPEST = 12
"""Subagents nested deeper than this are put beside their parent."""


class _Flow(Struct):
    """The text of one source, in order."""

    place: DeferredText
    depth: int
    asides: list[tuple[str, str]] = []


class _Item(Struct):
    """A call that waits for its result, or for its subagents."""

    key: Key
    pair: int
    """The identity of its pair."""
    call: Event
    head: DeferredText
    """The place in its head for its outcome."""
    place: DeferredText
    depth: int
    source: str
    waits: bool
    """Whether it waits for its result."""
    last: int
    """The ordinal of the last event of its subagents; -1 without any."""


class PageLayout:
    """Writes the events of a run in the order of a page."""

    def __init__(self, facts: PageFacts, writer: PageWriter, *, hold: int = HOLD) -> None:
        self._facts = facts
        self._writer = writer
        self._hold = hold
        self._held = 0
        self._anchors = Anchors()
        self._root = _Flow(DeferredText(), 0)
        self._flows: dict[Key, _Flow] = {}
        self._pairs = CallPairs()
        self._open: dict[int, _Item] = {}
        """By the identity of the pair, like the next: a pair with an id is never replaced."""
        self._call_anchors: dict[int, str] = {}
        """The anchors of calls."""
        self._spawning: dict[Key, _Item] = {}
        """Calls whose subagents are still active."""
        self._ends: dict[int, list[_Flow | _Item]] = {}
        self._units = iter(facts.units)
        self._unit_end = ""
        self._ordinal = 0

    def text(self, events: Iterable[Event]) -> Iterator[str]:
        """The page's body, piece by piece."""
        for self._ordinal, event in enumerate(events):
            self._add(event)
            if not self._root.place.parts:
                continue
            for text in self._root.place.drain():
                self._held -= len(text)
                yield text
            if self._held > self._hold:
                self._close_first()
        for flow in [*self._flows.values(), self._root]:
            self._settle_asides(flow)
        self._root.place.close()
        yield from self._root.place.drain()
        yield self._unit_end

    def _add(self, event: Event) -> None:
        if self._ordinal == 0 or begins_unit(event):
            self._begin_unit()
        anchor = self._anchors.of(event)
        payload = event.payload
        if (joined := self._pairs.add(event, None)) is not None:
            (self._call if joined.is_call else self._result)(event, payload, anchor, joined)
        elif isinstance(payload, MessagePayload) and not payload.is_chunk:
            text = self._writer.message(event, payload, anchor, self._orphans_of(payload))
            self._write(self._flow_of(event), text)
        elif is_aside(event):
            self._add_aside(self._flow_of(event), event, anchor)
        else:
            self._write(self._flow_of(event), self._writer.notice(event, anchor))
        if self._ordinal in self._ends:
            for ended in self._ends.pop(self._ordinal):
                self._end(ended)

    def _orphans_of(self, payload: MessagePayload) -> frozenset[str]:
        if not self._facts.orphans:
            return frozenset()
        ids = (block.tool_id for block in payload.blocks if isinstance(block, ToolUseBlock | ToolResultBlock))
        return frozenset(each for each in ids if (self._ordinal, each) in self._facts.orphans)

    def _begin_unit(self) -> None:
        for item in [item for item in self._open.values() if item.source == "main"]:
            self._stop_waiting(item)
        facts = next(self._units, None)
        if facts is None:  # the run has grown since the first pass
            return
        head, tail = self._writer.unit(facts)
        self._write(self._root, self._unit_end + head)
        self._unit_end = tail

    def _flow_of(self, event: Event) -> _Flow:
        """The text of a source; its place is made at its first event."""
        source = event.source
        if source == "main":
            return self._root
        key = (event.run_id, source)
        known = self._flows.get(key)
        if known is not None and not known.place.is_closed:
            return known
        place, depth = self._place_of(event)
        facts = self._facts.sources.get(key)
        head, tail = self._writer.subagent(event, facts, continued=known is not None)
        flow = self._flows[key] = _Flow(DeferredText(holds_flows=True), depth + 1)
        self._append(place, head, flow.place, tail)
        if facts is not None:
            self._ends.setdefault(facts.last, []).append(flow)
        return flow

    def _place_of(self, event: Event) -> tuple[DeferredText, int]:
        """The place below the call that spawned a source; else the end of its parent's text."""
        origin = event.origin
        parent = None if origin is None else origin.parent_source
        call_id = None if origin is None else origin.parent_call_id
        item = self._spawning.get((event.run_id, call_id)) if call_id else None
        if item is not None and not item.place.is_closed and item.depth < DEEPEST:
            item.place.holds_flows = True
            return item.place, item.depth
        flow = self._flows.get((event.run_id, parent)) if parent else None
        if flow is None or flow.place.is_closed or flow.depth >= DEEPEST:
            flow = self._root
        self._settle_asides(flow)
        return flow.place, flow.depth

    def _call(self, event: Event, payload: ToolPayload, anchor: str, joined: Joined) -> None:
        pair = id(joined.pair)
        if not joined.change.calls:
            self._other_report(event, payload, anchor, self._open.get(pair))
            return
        key = (event.run_id, payload.call_id)
        answered = bool(payload.call_id) and self._ordinal not in self._facts.unanswered
        waits = answered and self._ordinal not in self._facts.late
        last = self._facts.spawned.get(key, -1)
        spawns = last > self._ordinal
        facts = CallFacts(
            failed=self._ordinal in self._facts.failed,
            answered=answered,
            spawns=spawns,
            parallel=self._facts.parallel.get(self._ordinal),
            answer=self._facts.answers.get(self._ordinal),
        )
        head, rest, tail = self._writer.call(event, payload, anchor, facts)
        flow = self._flow_of(event)
        item = _Item(key, pair, event, DeferredText(), DeferredText(), flow.depth, event.source, waits, last)
        self._write(flow, head, item.head, rest, item.place, tail)
        if payload.call_id:
            self._call_anchors[pair] = anchor
        if spawns:
            self._spawning[key] = item
            self._ends.setdefault(last, []).append(item)
        if waits:
            self._open[pair] = item
        else:
            item.head.close()
            self._settle(item)

    def _other_report(self, event: Event, payload: ToolPayload, anchor: str, item: _Item | None) -> None:
        text = self._writer.other_report(event, payload, anchor)
        if item is None or item.place.is_closed:
            self._write(self._flow_of(event), text)
        else:
            self._append(item.place, text)

    def _result(self, event: Event, payload: ToolPayload, anchor: str, joined: Joined) -> None:
        pair, name = id(joined.pair), payload.name or joined.pair.name
        item = self._open.pop(pair, None)
        if item is None or item.place.is_closed:
            call_anchor = self._call_anchors.get(pair, "") if payload.call_id else ""
            self._write(self._flow_of(event), self._writer.stray(event, payload, anchor, name, call_anchor))
            return
        if not item.head.is_closed:
            self._append(item.head, self._writer.outcome(item.call, payload))
            item.head.close()
        self._append(item.place, self._writer.result(event, payload, anchor, name, item.call))
        item.waits = False
        self._settle(item)

    def _stop_waiting(self, item: _Item) -> None:
        """Stop waiting for the result of a call."""
        self._open.pop(item.pair, None)
        item.head.close()
        item.waits = False
        self._settle(item)

    def _settle(self, item: _Item) -> None:
        if not item.waits and item.last <= self._ordinal:
            self._close(item.place)

    def _end(self, ended: _Flow | _Item) -> None:
        """A source, or the last one that a call spawned, had its last event."""
        if isinstance(ended, _Flow):
            self._close(ended.place)
            return
        if self._spawning.get(ended.key) is ended:
            del self._spawning[ended.key]
        self._settle(ended)

    def _close(self, place: DeferredText) -> None:
        """Close a place and all places inside."""
        if place.holds_flows:
            for flow in self._flows.values():
                self._settle_asides(flow)
        place.close()

    def _write(self, flow: _Flow, *parts: str | DeferredText) -> None:
        self._settle_asides(flow)
        self._append(flow.place, *parts)

    def _add_aside(self, flow: _Flow, event: Event, anchor: str) -> None:
        flow.asides.append(self._writer.aside(event, anchor))
        if len(flow.asides) >= QUIET_GROUP:
            self._settle_asides(flow)

    def _settle_asides(self, flow: _Flow) -> None:
        if flow.asides:
            text = self._writer.asides(flow.asides)
            flow.asides = []
            self._append(flow.place, text)

    def _append(self, place: DeferredText, *parts: str | DeferredText) -> None:
        for part in parts:
            place.parts.append(part)
            if isinstance(part, str):
                self._held += len(part)

    def _close_first(self) -> None:
        """Close the open place that everything waits behind."""
        first = self._root.place.parts[0]
        assert isinstance(first, DeferredText)
        self._close(first)
