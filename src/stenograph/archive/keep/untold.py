"""The events of a run that a witness has not told yet, to be found by what it tells next.

Theory of operation. Most witnesses name the lines of the agent's own files, so only those are looked up at first. When
an event is not found so, the others are read once more, and known by their content, ids and words, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from msgspec.structs import replace

from stenograph.archive.keep import likeness
from stenograph.archive.keep.likeness import Key
from stenograph.model.event import Event
from stenograph.model.moment import moment_of
from stenograph.model.payload import ToolPayload

_NEAR = 200
"""So many of the next calls are compared with one that goes by another id."""


class Untold:
    """One event of the run that the witness has not told."""

    __slots__ = ("adapter", "blocks", "call_ids", "content", "is_told", "ms", "seq", "source", "told_blocks", "words")

    def __init__(self, event: Event, ms: int, content: bytes) -> None:
        self.seq = event.seq
        self.source = event.source
        self.ms = ms
        self.adapter = likeness.adapter_of(event)
        self.content = content
        self.is_told = False
        self.blocks = 0
        """Blocks of a message that has an id."""
        self.told_blocks: set[int] = set()
        self.call_ids: list[str] = []
        self.words: frozenset[str] = frozenset()


class UntoldEvents:
    """Those of one run and one witness."""

    def __init__(self, read: Callable[[], Iterator[Event]], *, leads: bool) -> None:
        """`read` reads them in order; where the witness `leads`, the content of each is remembered."""
        self._read = read
        self._leads = leads
        self._is_whole = False
        self._by_key: dict[Key, deque[tuple[Untold, int]]] = {}
        self._calls: dict[tuple[str, bool], deque[Untold]] = {}
        self.aliases: dict[str, str] = {}
        """Calls of the witness by other ids than those of the run."""
        self._latest: dict[str, int | None] = {}
        self._left: dict[str, int] = {}
        self.all: dict[int, Untold] = {}
        """By their numbers, in order."""
        times = Times()
        for event in read():
            content = likeness.content_of(event) if leads else b""
            each = self.all[event.seq] = Untold(event, times.next(event), content)
            self._left[each.source] = self._left.get(each.source, 0) + 1
            self._enter(likeness.place_of(event), each)

    def left(self) -> list[int]:
        """The numbers of those that it still has not told."""
        return [seq for seq, each in self.all.items() if not each.is_told]

    def has_later(self, source: str, ms: int | None) -> bool:
        """Whether one of that source is left that is later, or when that cannot be known."""
        if not self._left.get(source):
            return False
        latest = self._latest.get(source)
        if latest is None:
            times = (each.ms for each in self.all.values() if each.source == source and not each.is_told)
            latest = self._latest[source] = max(times)
        return ms is None or ms < latest

    def take(self, event: Event) -> tuple[Untold | None, Event | None]:
        """The one that is the same as this event, if any, which is told by that; and what of the event is new."""
        found = self._first(likeness.place_of(event))
        if found is not None:
            return self._told(found), None
        self._know_all()
        found = self._first(likeness.moment_key(event)) or self._first(likeness.id_key(event))
        if found is not None:
            return self._told(found), None
        if self._is_told_of(event):
            return None, None
        if keys := likeness.block_keys(event):
            found, left = self._by_blocks(event, keys)
            if found is not None:
                return found, left
        found = self._by_call_id(event) or self._by_words(event)
        if found is None and (keys := likeness.block_words(event)):
            found, left = self._by_blocks(event, keys)
            if found is not None:
                return found, left
        found = found or self._by_call(event)
        if found is not None:
            return self._told(found), None
        return None, event if self._leads else with_call_id(event, self.aliases)

    def _is_told_of(self, event: Event) -> bool:
        """Whether the leading witness told what this model call took: then it has the last word, however often."""
        return not self._leads and event.type == "token.usage" and likeness.id_key(event) in self._by_key

    # How they are found.

    def _know_all(self) -> None:
        if self._is_whole:
            return
        self._is_whole = True
        for event in self._read():
            each = self.all[event.seq]
            if each.is_told:
                continue
            self._enter(likeness.moment_key(event), each)
            self._enter(likeness.id_key(event), each)
            for keys in (likeness.block_keys(event), likeness.block_words(event)):
                each.blocks = max(each.blocks, len(keys))
                for place, key in enumerate(keys):
                    self._enter(key, each, place)
            self._enter(likeness.words_key(event), each)
            each.call_ids = likeness.called_ids(event)
            each.words = likeness.call_words(event)
            if len(each.call_ids) == 1:
                self._enter(("call", event.type, each.source == "main", each.call_ids[0]), each)
            if each.words:
                self._calls.setdefault((event.type, each.source == "main"), deque()).append(each)

    def _enter(self, key: Key | None, each: Untold, block: int = -1) -> None:
        if key is not None:
            self._by_key.setdefault(key, deque()).append((each, block))

    def _first(self, key: Key | None) -> Untold | None:
        """The first under a key that is not told."""
        waiting = self._by_key.get(key) if key is not None else None
        while waiting:
            each = waiting.popleft()[0]
            if not each.is_told:
                return each
        return None

    def _by_blocks(self, event: Event, keys: list[Key]) -> tuple[Untold | None, Event | None]:
        """The message of that id with these blocks; what other blocks the event has is new."""
        found: list[tuple[Untold, int]] = []
        left = []
        for place, key in enumerate(keys):
            waiting = self._by_key.get(key)
            while waiting and self._is_told(*waiting[0]):
                waiting.popleft()
            if waiting:
                found.append(waiting.popleft())
            else:
                left.append(place)
        for each, block in found:
            each.told_blocks.add(block)
            self._told(each)
        if not found:
            return None, event
        return found[0][0], with_blocks(event, left) if left else None

    def _is_told(self, each: Untold, block: int) -> bool:
        return block in each.told_blocks or (each.is_told and not each.told_blocks)

    def _by_call_id(self, event: Event) -> Untold | None:
        """The event about the same call, where only one of the two messages has an id, or the call has two ids."""
        ids = likeness.called_ids(event)
        if len(ids) != 1:
            return None
        return self._first(("call", event.type, event.source == "main", self.aliases.get(ids[0], ids[0])))

    def _by_words(self, event: Event) -> Untold | None:
        """The next with the same words, told by another program."""
        waiting = self._by_key.get(likeness.words_key(event), ())
        adapter = likeness.adapter_of(event)
        found = next((each for each, _ in waiting if not each.is_told and each.adapter != adapter), None)
        if found is not None:
            self._alias(event, found)
        return found

    def _by_call(self, event: Event) -> Untold | None:
        """The call with most words in common, told by another program, of which each gives calls its own ids."""
        words = likeness.call_words(event)
        if not words:
            return None
        adapter = likeness.adapter_of(event)
        others = self._calls.get((event.type, event.source == "main"), deque())
        while others and others[0].is_told:
            others.popleft()
        fitting = (each for each in others if not each.is_told and each.adapter != adapter)
        found = max(islice(fitting, _NEAR), key=lambda each: likeness.overlap(words, each.words), default=None)
        if found is None or not likeness.overlap(words, found.words):
            return None
        self._alias(event, found)
        return found

    def _alias(self, event: Event, found: Untold) -> None:
        self.aliases.update(zip(likeness.called_ids(event), found.call_ids, strict=False))

    def _told(self, each: Untold) -> Untold:
        if not each.is_told:
            each.is_told = True
            self._left[each.source] -= 1
            if self._latest.get(each.source) == each.ms:
                self._latest[each.source] = None
        return each


class Times:
    """The times of events in their order: what has none has that of the one before it in its source."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._text = ""
        self._ms: int | None = None

    def own(self, event: Event) -> int | None:
        """The event's own time in milliseconds; None where its source told none."""
        text = likeness.time_of(event)
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
    """A message with only these of its blocks."""
    blocks = tuple(event.payload.blocks[place] for place in places)
    return replace(event, payload=replace(event.payload, blocks=blocks))


def with_call_id(event: Event, ids: Mapping[str, str]) -> Event:
    """The result of a call by the id that the call has in the run, where it is known by two."""
    payload = event.payload
    if isinstance(payload, ToolPayload) and payload.call_id in ids:
        return replace(event, payload=replace(payload, call_id=ids[payload.call_id]))
    return event
