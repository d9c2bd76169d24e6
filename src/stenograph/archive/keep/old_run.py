"""A run as it stands in the index, on its way out: its events are read once more, in another order."""

from __future__ import annotations

from functools import lru_cache

from stenograph.archive.index.block import unpacked
from stenograph.archive.index.index_writer import IndexWriter, Row
from stenograph.archive.index.words import event_text, searchable
from stenograph.model.codec import decode
from stenograph.model.event import Event

MADE_OF_EVENTS = (
    "usage_shared",
    "usage_keys",
    "usage",
    "model_call_messages",
    "model_call_sources",
    "model_calls",
    "calls",
    "sources",
    "events",
)
"""Tables whose rows are made from the events of a run."""
_BLOCKS_AT_HAND = 8
_WORDS_AT_ONCE = 500


class OldRun:
    """The rows of one run."""

    def __init__(self, index: IndexWriter, run: int) -> None:
        self._index = index
        self._run = run
        index.drain()
        rows = index.written("SELECT seq, id, block, line FROM events WHERE run = ? ORDER BY seq", (run,))
        self.places: dict[int, Row] = {row[0]: row[1:] for row in rows}
        """Where each event is, by its number in rising order: its id, block and line."""
        self._blocks = {block for _, block, _ in self.places.values()}
        self._lines = lru_cache(_BLOCKS_AT_HAND)(self._read_block)

    def event(self, seq: int) -> Event:
        """The event of that number."""
        _, block, line = self.places[seq]
        return decode(self._lines(block)[line])

    def remove(self) -> None:
        """Take the run's events and all that was made from them out of the index; they can still be read."""
        words = []
        for seq, (number, _, _) in self.places.items():
            if text := event_text(self.event(seq)):
                words.append((number, searchable(text).decode()))
            if len(words) >= _WORDS_AT_ONCE:
                self._index.remove_words(words)
                words = []
        self._index.remove_words(words)
        for table in MADE_OF_EVENTS:
            self._index.execute(f"DELETE FROM {table} WHERE run = ?", (self._run,))

    def remove_blocks(self) -> None:
        """Let go of the events themselves."""
        for block in sorted(self._blocks):
            self._index.execute("DELETE FROM blocks WHERE id = ?", (block,))

    def _read_block(self, block: int) -> list[bytes]:
        return unpacked(self._index.written("SELECT lines FROM blocks WHERE id = ?", (block,))[0][0])
