"""A run in the index that is about to be removed: its events are read once more, in another order."""

from __future__ import annotations

from functools import lru_cache

from stenograph.archive.index.chunk import unpacked
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
_CACHED_CHUNKS = 8
_WORDS_AT_ONCE = 500


class OldRun:
    """The rows of one run."""

    def __init__(self, index: IndexWriter, run: int) -> None:
        self._index = index
        self._run = run
        index.drain()
        rows = index.written("SELECT seq, id, block, line FROM events WHERE run = ? ORDER BY seq", (run,))
        self.places: dict[int, Row] = {row[0]: row[1:] for row in rows}
        """Where each event is, by its number in rising order: its id, chunk and line."""
        self._chunks = {chunk for _, chunk, _ in self.places.values()}
        self._lines = lru_cache(_CACHED_CHUNKS)(self._read_chunk)

    def event(self, seq: int) -> Event:
        """The event of that number."""
        _, chunk, line = self.places[seq]
        return decode(self._lines(chunk)[line])

    def remove(self) -> None:
        """Remove the run's rows from the index, but for the chunks: its events can still be read."""
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

    def remove_chunks(self) -> None:
        """Remove the events themselves."""
        for chunk in sorted(self._chunks):
            self._index.execute("DELETE FROM blocks WHERE id = ?", (chunk,))

    def _read_chunk(self, chunk: int) -> list[bytes]:
        return unpacked(self._index.written("SELECT lines FROM blocks WHERE id = ?", (chunk,))[0][0])
