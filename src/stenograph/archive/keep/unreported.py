"""The events of a run that a witness has not reported yet, to be matched with what it reports next.

Theory of operation. Most witnesses name the lines of the agent's own files, so only those keys are made at first. When
an event is not found by its line, all events are read once more, and keyed by content, ids and words as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from msgspec.structs import replace

from stenograph.archive.keep import match_keys
from stenograph.archive.keep.match_keys import Key
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import ToolPayload

_NEAR = 200
"""The number of following calls that are compared with one that has another id."""


class UnreportedEvent:
    """One event of the run that the witness has not reported."""

    __slots__ = (
        "adapter",
        "blocks",
        "call_ids",
        "content",
        "is_reported",
        "ms",
        "reported_blocks",
        "seq",
        "source",
        "words",
    )

    def __init__(self, event: Event, ms: int, content: bytes) -> None:
        self.seq = event.seq
        self.source = event.source
        self.ms = ms
        self.adapter = match_keys.adapter_of(event)
        self.content = content
        self.is_reported = False
        self.blocks = 0
        """Blocks of a message that has an id."""
        self.reported_blocks: set[int] = set()
        self.call_ids: list[str] = []
        self.words: frozenset[str] = frozenset()


class UnreportedEvents:
    """The unreported events of one run and one witness."""

    def __init__(self, read: Callable[[], Iterator[Event]], *, leads: bool) -> None:
        """`read` reads them in order; where the witness `leads`, the content of each is remembered."""
        self._read = read
        self._leads = leads
        self._is_whole = False
        self._by_key: dict[Key, deque[tuple[UnreportedEvent, int]]] = {}
        self._calls: dict[tuple[str, bool], deque[UnreportedEvent]] = {}
        self.aliases: dict[str, str] = {}
        """The run's call ids by the witness's own, where they differ."""
        self._latest: dict[str, int | None] = {}
        self._left: dict[str, int] = {}
        self.all: dict[int, UnreportedEvent] = {}
        """By number, in order."""
        times = Times()
        for event in read():
            content = match_keys.content_of(event) if leads else b""
            each = self.all[event.seq] = UnreportedEvent(event, times.next(event), content)
            self._left[each.source] = self._left.get(each.source, 0) + 1
            self._enter(match_keys.place_of(event), each)

    def left(self) -> list[int]:
        """The numbers of the events that it still has not reported."""
        return [seq for seq, each in self.all.items() if not each.is_reported]

    def has_later(self, source: str, ms: int | None) -> bool:
        """Whether a later event of that source is left; True where the event has no time and one is left."""
        if not self._left.get(source):
            return False
        latest = self._latest.get(source)
        if latest is None:
            times = (each.ms for each in self.all.values() if each.source == source and not each.is_reported)
            latest = self._latest[source] = max(times)
        return ms is None or ms < latest

    def take(self, event: Event) -> tuple[UnreportedEvent | None, Event | None]:
        """Match an event: the same event of the run, if any, now marked as reported; and what is new in the event."""
        found = self._first(match_keys.place_of(event))
        if found is not None:
            return self._mark_reported(found), None
        self._add_all_keys()
        found = self._first(match_keys.moment_key(event)) or self._first(match_keys.id_key(event))
        if found is not None:
            return self._mark_reported(found), None
        if self._has_usage_of(event):
            return None, None
        if keys := match_keys.block_keys(event):
            found, left = self._by_blocks(event, keys)
            if found is not None:
                return found, left
        found = self._by_call_id(event) or self._by_words(event)
        if found is None and (keys := match_keys.block_words(event)):
            found, left = self._by_blocks(event, keys)
            if found is not None:
                return found, left
        found = found or self._by_call(event)
        if found is not None:
            return self._mark_reported(found), None
        return None, event if self._leads else with_call_id(event, self.aliases)

    def _has_usage_of(self, event: Event) -> bool:
        """Whether the leading witness reported the usage of this model call: then no other report of it counts."""
        return not self._leads and event.type == "token.usage" and match_keys.id_key(event) in self._by_key

    # How they are found.

    def _add_all_keys(self) -> None:
        if self._is_whole:
            return
        self._is_whole = True
        for event in self._read():
            each = self.all[event.seq]
            if each.is_reported:
                continue
            self._enter(match_keys.moment_key(event), each)
            self._enter(match_keys.id_key(event), each)
            for keys in (match_keys.block_keys(event), match_keys.block_words(event)):
                each.blocks = max(each.blocks, len(keys))
                for place, key in enumerate(keys):
                    self._enter(key, each, place)
            self._enter(match_keys.words_key(event), each)
            each.call_ids = match_keys.called_ids(event)
            each.words = match_keys.call_words(event)
            if len(each.call_ids) == 1:
                self._enter(("call", event.type, each.source == "main", each.call_ids[0]), each)
            if each.words:
                self._calls.setdefault((event.type, each.source == "main"), deque()).append(each)

    def _enter(self, key: Key | None, each: UnreportedEvent, block: int = -1) -> None:
        if key is not None:
            self._by_key.setdefault(key, deque()).append((each, block))

    def _first(self, key: Key | None) -> UnreportedEvent | None:
        """The first event under a key that is not reported."""
        waiting = self._by_key.get(key) if key is not None else None
        while waiting:
            each = waiting.popleft()[0]
            if not each.is_reported:
                return each
        return None

    def _by_blocks(self, event: Event, keys: list[Key]) -> tuple[UnreportedEvent | None, Event | None]:
        """Match a message by its blocks; the blocks that are not found are new."""
        found: list[tuple[UnreportedEvent, int]] = []
        left = []
        for place, key in enumerate(keys):
            waiting = self._by_key.get(key)
            while waiting and self._is_block_reported(*waiting[0]):
                waiting.popleft()
            if waiting:
                found.append(waiting.popleft())
            else:
                left.append(place)
        for each, block in found:
            each.reported_blocks.add(block)
            self._mark_reported(each)
        if not found:
            return None, event
        return found[0][0], with_blocks(event, left) if left else None

    def _is_block_reported(self, each: UnreportedEvent, block: int) -> bool:
        return block in each.reported_blocks or (each.is_reported and not each.reported_blocks)

    def _by_call_id(self, event: Event) -> UnreportedEvent | None:
        """The event about the same call, where only one of the two messages has an id, or the call has two ids."""
        ids = match_keys.called_ids(event)
        if len(ids) != 1:
            return None
        return self._first(("call", event.type, event.source == "main", self.aliases.get(ids[0], ids[0])))

    def _by_words(self, event: Event) -> UnreportedEvent | None:
        """The next event with the same words, from another program."""
        waiting = self._by_key.get(match_keys.words_key(event), ())
        adapter = match_keys.adapter_of(event)
        found = next((each for each, _ in waiting if not each.is_reported and each.adapter != adapter), None)
        if found is not None:
            self._alias(event, found)
        return found

    def _by_call(self, event: Event) -> UnreportedEvent | None:
        """The call of another program with most words in common: each program gives calls its own ids."""
        words = match_keys.call_words(event)
        if not words:
            return None
        adapter = match_keys.adapter_of(event)
        others = self._calls.get((event.type, event.source == "main"), deque())
        while others and others[0].is_reported:
            others.popleft()
        candidates = (each for each in others if not each.is_reported and each.adapter != adapter)
        found = max(islice(candidates, _NEAR), key=lambda each: match_keys.overlap(words, each.words), default=None)
        if found is None or not match_keys.overlap(words, found.words):
            return None
        self._alias(event, found)
        return found

    def _alias(self, event: Event, found: UnreportedEvent) -> None:
        self.aliases.update(zip(match_keys.called_ids(event), found.call_ids, strict=False))

    def _mark_reported(self, each: UnreportedEvent) -> UnreportedEvent:
        if not each.is_reported:
            each.is_reported = True
            self._left[each.source] -= 1
            if self._latest.get(each.source) == each.ms:
                self._latest[each.source] = None
        return each


class Times:
    """The times of events in their order: an event without one has that of the event before it in its source."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._text = ""
        self._ms: int | None = None

    def own(self, event: Event) -> int | None:
        """The event's own time in milliseconds; None where its source gave none."""
        text = match_keys.time_of(event)
        if text != self._text:
            self._text = text
            moment = moment_of(text) if text else None
            self._ms = None if moment is None else int(moment.timestamp() * 1000)
        return self._ms

    def next(self, event: Event) -> int:
        """The time of the next event: the latest of its source so far."""
        own = self.own(event)
        last = self._last.get(event.source)
        if own is None or (last is not None and own < last):
            own = last
        if own is not None:
            self._last[event.source] = own
        return -(1 << 62) if own is None else own


def with_blocks(event: Event, places: list[int]) -> Event:
    """A message with only the blocks at these places."""
    blocks = tuple(event.payload.blocks[place] for place in places)
    return replace(event, payload=replace(event.payload, blocks=blocks))


def with_call_id(event: Event, ids: Mapping[str, str]) -> Event:
    """The result of a call with the call's id in the run, where the call has two ids."""
    payload = event.payload
    if isinstance(payload, ToolPayload) and payload.call_id in ids:
        return replace(event, payload=replace(payload, call_id=ids[payload.call_id]))
    return event
