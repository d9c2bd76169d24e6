"""The order in which a page tells what happened: results with their calls, subagents below the call that spawned them.

Theory of operation. Events come in the order of time, a page has the order of a tree. So the page is a tree of slots;
text goes to the slot where it belongs, and whatever stands before the first slot that is still open leaves at once.
The outline says what each slot waits for: a call for its result (unless it has none in its unit) and for the last
event of its subagents. What waits behind an open slot is held, `HOLD` characters at most: beyond that the slot is
closed, and what comes late for it is told where it happens. So memory is bounded whatever the run is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from stenograph.fold.calls import CallPairs, Joined
from stenograph.fold.units import begins_unit
from stenograph.model.block import ToolResultBlock, ToolUseBlock
from stenograph.model.event import Event
from stenograph.model.payload import MessagePayload, ToolPayload
from stenograph.render.names import is_aside
from stenograph.render.outline import Key, Outline
from stenograph.render.skin import CallFacts, Skin
from stenograph.render.slot import Anchors, Slot

HOLD = 16_000_000
QUIET_GROUP = 50
"""How many asides stand together at most."""
DEEPEST = 12
"""Subagents nested deeper than this stand beside their parent."""


class _Flow(Struct):
    """What one source does, in its order."""

    slot: Slot
    depth: int
    asides: list[tuple[str, str]] = []


class _Item(Struct):
    """A call that waits for its result, or for its subagents."""

    key: Key
    pair: int
    """The identity of its pair."""
    call: Event
    head: Slot
    """Where its head says how it went."""
    slot: Slot
    depth: int
    source: str
    waits: bool
    """For its result."""
    last: int
    """The ordinal of the last event of its subagents; -1 without any."""


class PageLayout:
    """Writes the events of a run in the order of a page."""

    def __init__(self, outline: Outline, skin: Skin, *, hold: int = HOLD) -> None:
        self._outline = outline
        self._skin = skin
        self._hold = hold
        self._held = 0
        self._anchors = Anchors()
        self._root = _Flow(Slot(), 0)
        self._flows: dict[Key, _Flow] = {}
        self._pairs = CallPairs()
        self._open: dict[int, _Item] = {}
        """By the identity of the pair, as the next: a pair that has an id stays as it is."""
        self._told: dict[int, str] = {}
        """The anchors of calls."""
        self._homes: dict[Key, _Item] = {}
        """Calls whose subagents are still at work."""
        self._ends: dict[int, list[_Flow | _Item]] = {}
        self._units = iter(outline.units)
        self._unit_end = ""
        self._ordinal = 0

    def text(self, events: Iterable[Event]) -> Iterator[str]:
        """The page's body, piece by piece."""
        for self._ordinal, event in enumerate(events):
            self._add(event)
            if not self._root.slot.parts:
                continue
            for text in self._root.slot.drain():
                self._held -= len(text)
                yield text
            if self._held > self._hold:
                self._let_go()
        for flow in [*self._flows.values(), self._root]:
            self._settle_asides(flow)
        self._root.slot.close()
        yield from self._root.slot.drain()
        yield self._unit_end

    def _add(self, event: Event) -> None:
        if self._ordinal == 0 or begins_unit(event):
            self._begin_unit()
        anchor = self._anchors.of(event)
        payload = event.payload
        if (joined := self._pairs.add(event, None)) is not None:
            (self._call if joined.is_call else self._result)(event, payload, anchor, joined)
        elif isinstance(payload, MessagePayload) and not payload.is_chunk:
            text = self._skin.message(event, payload, anchor, self._untold_of(payload))
            self._say(self._flow_of(event), text)
        elif is_aside(event):
            self._whisper(self._flow_of(event), event, anchor)
        else:
            self._say(self._flow_of(event), self._skin.loud(event, anchor))
        if self._ordinal in self._ends:
            for ended in self._ends.pop(self._ordinal):
                self._end(ended)

    def _untold_of(self, payload: MessagePayload) -> frozenset[str]:
        if not self._outline.untold:
            return frozenset()
        ids = (block.tool_id for block in payload.blocks if isinstance(block, ToolUseBlock | ToolResultBlock))
        return frozenset(each for each in ids if (self._ordinal, each) in self._outline.untold)

    def _begin_unit(self) -> None:
        for item in [item for item in self._open.values() if item.source == "main"]:
            self._leave(item)
        facts = next(self._units, None)
        if facts is None:  # the run has grown since it was surveyed
            return
        head, tail = self._skin.unit(facts)
        self._say(self._root, self._unit_end + head)
        self._unit_end = tail

    def _flow_of(self, event: Event) -> _Flow:
        """Where a source's events go; its place is made when it first speaks."""
        source = event.source
        if source == "main":
            return self._root
        key = (event.run_id, source)
        known = self._flows.get(key)
        if known is not None and not known.slot.is_closed:
            return known
        slot, depth = self._home_of(event)
        facts = self._outline.sources.get(key)
        head, tail = self._skin.subagent(event, facts, continued=known is not None)
        flow = self._flows[key] = _Flow(Slot(holds_flows=True), depth + 1)
        self._append(slot, head, flow.slot, tail)
        if facts is not None:
            self._ends.setdefault(facts.last, []).append(flow)
        return flow

    def _home_of(self, event: Event) -> tuple[Slot, int]:
        """The slot below the call that spawned a source; else the end of what its parent does."""
        origin = event.origin
        parent = None if origin is None else origin.parent_source
        call_id = None if origin is None else origin.parent_call_id
        item = self._homes.get((event.run_id, call_id)) if call_id else None
        if item is not None and not item.slot.is_closed and item.depth < DEEPEST:
            item.slot.holds_flows = True
            return item.slot, item.depth
        flow = self._flows.get((event.run_id, parent)) if parent else None
        if flow is None or flow.slot.is_closed or flow.depth >= DEEPEST:
            flow = self._root
        self._settle_asides(flow)
        return flow.slot, flow.depth

    def _call(self, event: Event, payload: ToolPayload, anchor: str, joined: Joined) -> None:
        pair = id(joined.pair)
        if not joined.change.calls:
            self._witness(event, payload, anchor, self._open.get(pair))
            return
        key = (event.run_id, payload.call_id)
        answered = bool(payload.call_id) and self._ordinal not in self._outline.unanswered
        waits = answered and self._ordinal not in self._outline.late
        last = self._outline.spawned.get(key, -1)
        spawns = last > self._ordinal
        facts = CallFacts(
            failed=self._ordinal in self._outline.failed,
            answered=answered,
            spawns=spawns,
            parallel=self._outline.parallel.get(self._ordinal),
            answer=self._outline.answers.get(self._ordinal),
        )
        head, rest, tail = self._skin.call(event, payload, anchor, facts)
        flow = self._flow_of(event)
        item = _Item(key, pair, event, Slot(), Slot(), flow.depth, event.source, waits, last)
        self._say(flow, head, item.head, rest, item.slot, tail)
        if payload.call_id:
            self._told[pair] = anchor
        if spawns:
            self._homes[key] = item
            self._ends.setdefault(last, []).append(item)
        if waits:
            self._open[pair] = item
        else:
            item.head.close()
            self._settle(item)

    def _witness(self, event: Event, payload: ToolPayload, anchor: str, item: _Item | None) -> None:
        text = self._skin.witness(event, payload, anchor)
        if item is None or item.slot.is_closed:
            self._say(self._flow_of(event), text)
        else:
            self._append(item.slot, text)

    def _result(self, event: Event, payload: ToolPayload, anchor: str, joined: Joined) -> None:
        pair, name = id(joined.pair), payload.name or joined.pair.name
        item = self._open.pop(pair, None)
        if item is None or item.slot.is_closed:
            call_anchor = self._told.get(pair, "") if payload.call_id else ""
            self._say(self._flow_of(event), self._skin.stray(event, payload, anchor, name, call_anchor))
            return
        if not item.head.is_closed:
            self._append(item.head, self._skin.outcome(item.call, payload))
            item.head.close()
        self._append(item.slot, self._skin.result(event, payload, anchor, name, item.call))
        item.waits = False
        self._settle(item)

    def _leave(self, item: _Item) -> None:
        """Do not wait for the result of a call any longer."""
        self._open.pop(item.pair, None)
        item.head.close()
        item.waits = False
        self._settle(item)

    def _settle(self, item: _Item) -> None:
        if not item.waits and item.last <= self._ordinal:
            self._close(item.slot)

    def _end(self, ended: _Flow | _Item) -> None:
        """A source, or the last one that a call spawned, has told its last event."""
        if isinstance(ended, _Flow):
            self._close(ended.slot)
            return
        if self._homes.get(ended.key) is ended:
            del self._homes[ended.key]
        self._settle(ended)

    def _close(self, slot: Slot) -> None:
        """Nothing more comes here, nor anywhere inside."""
        if slot.holds_flows:
            for flow in self._flows.values():
                self._settle_asides(flow)
        slot.close()

    def _say(self, flow: _Flow, *parts: str | Slot) -> None:
        self._settle_asides(flow)
        self._append(flow.slot, *parts)

    def _whisper(self, flow: _Flow, event: Event, anchor: str) -> None:
        flow.asides.append(self._skin.quiet(event, anchor))
        if len(flow.asides) >= QUIET_GROUP:
            self._settle_asides(flow)

    def _settle_asides(self, flow: _Flow) -> None:
        if flow.asides:
            text = self._skin.asides(flow.asides)
            flow.asides = []
            self._append(flow.slot, text)

    def _append(self, slot: Slot, *parts: str | Slot) -> None:
        for part in parts:
            slot.parts.append(part)
            if isinstance(part, str):
                self._held += len(part)

    def _let_go(self) -> None:
        """Close the open slot that everything waits behind."""
        first = self._root.slot.parts[0]
        assert isinstance(first, Slot)
        self._close(first)
