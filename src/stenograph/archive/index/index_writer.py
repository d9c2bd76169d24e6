"""Writing the index: rows and texts wait here until there are enough to write them at once.

Theory of operation. Full text is most of the work, and SQLite releases Python's lock while one statement runs. So a
thread writes the words of one flush while the next events are prepared: it prepares a batch of texts for search, and
passes the batch to one statement. All other access to the connection goes through this class and waits for that thread,
so the connection never has two users. `commit` leaves all words, and the commit after them, to the thread. An error in
the thread is raised at the next call and at every one after it, so that nothing is committed without its words.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from stenograph.archive.index.words import spaced, with_parts

_MUCH_TEXT = 1 << 22
_MOST_TEXT = 1 << 25
_MOST_ROWS = 50_000
_BATCH_BYTES = 1 << 20
"""Bytes of text that are passed to one statement."""
_WORDS = """
    INSERT INTO words (rowid, text)
    SELECT json_extract(value, '$[0]'),
      CAST(substr(?, json_extract(value, '$[1]'), json_extract(value, '$[2]')) AS TEXT)
    FROM json_each(?)
"""
_NO_WORDS = "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"
_FACT = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
Row = tuple[Any, ...]
Texts = list[tuple[int, bytes]]
"""Events with their texts, spaced and in UTF-8."""


class IndexWriter:
    """Adds rows to the index, in a transaction that is open all the time."""

    def __init__(self, connection: sqlite3.Connection, *, searchable: bool = True) -> None:
        """With `searchable` false, words are not written."""
        self._is_searchable = searchable
        self._connection = connection
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        """What the thread raised: its work is not done."""
        self._is_given_up = False
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0
        self._texts: Texts = []
        self._text_size = 0
        self._committed = connection.total_changes
        connection.execute("BEGIN IMMEDIATE")

    def add(self, statement: str, *rows: Row) -> None:
        """Queue rows for a statement. Statements run in the order in which they were first added.

        A statement that reads what another one writes must be added after it in every batch; so add the other one
        without rows when it has none.
        """
        self._rows.setdefault(statement, []).extend(rows)
        self._waiting += len(rows)

    def add_words(self, event: int, text: str) -> None:
        """Queue the words of an event."""
        if not self._is_searchable:
            return
        data = spaced(text).encode()
        if self._text_size and self._text_size + len(data) > _MOST_TEXT:
            self.flush()
        self._texts.append((event, data))
        self._text_size += len(data)

    def note(self, fact: str, value: int) -> None:
        """Queue a fact."""
        self.add(_FACT, (fact, value))

    @property
    def is_full(self) -> bool:
        """Whether enough is queued to be written; while the thread is busy, the limit is higher."""
        text = self._text_size
        return self._waiting >= _MOST_ROWS or text >= _MOST_TEXT or (text >= _MUCH_TEXT and not self.is_busy)

    @property
    def is_busy(self) -> bool:
        """Whether the thread is writing, so that the next write would wait for it."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection, after writing everything that was added so far except words."""
        self._write_rows()
        return self._connection

    def execute(self, query: str, values: Row = ()) -> sqlite3.Cursor:
        """Run a query after writing everything that was added so far except words."""
        return self.connection.execute(query, values)

    def written(self, query: str, values: Row = ()) -> list[Row]:
        """The rows of a query, without what is still queued."""
        self.settle()
        return self._connection.execute(query, values).fetchall()

    def flush(self) -> None:
        """Write what is queued; the thread writes the words while the next events are prepared."""
        self._write_rows()
        self._begin(partial(self._write_words, self._taken()))

    def commit(self) -> None:
        """Write what is queued, and make it visible to readers; errors are raised later. See `settle`."""
        self._write_rows()
        self._begin(partial(self._write_words_and_commit, self._taken()))

    def drain(self) -> None:
        """Write everything that is queued, words included, before returning."""
        self._write_rows()
        self._write_words(self._taken())

    def remove_words(self, words: list[tuple[int, str]]) -> None:
        """Remove the words of events, each with its text as it was indexed. Nothing may be queued."""
        self.settle()
        self._connection.executemany(_NO_WORDS, words)

    def settle(self) -> None:
        """Wait for the thread; raises what it raised, now and at every later call."""
        self._end()
        if self._error is not None:
            raise self._error

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to commit."""
        self.settle()
        return any(self._rows.values()) or bool(self._texts) or self._connection.total_changes != self._committed

    def pause(self) -> None:
        """End the transaction, which must be empty, so that other processes can write."""
        self.settle()
        self._connection.execute("COMMIT")

    def version(self) -> int:
        """A number that changes when another connection commits. Call it while paused."""
        number: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return number

    def resume(self) -> None:
        """Begin the next transaction."""
        self._connection.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Discard what is not committed, and close the connection."""
        self._is_given_up = True
        if self.is_busy:
            self._connection.interrupt()
        self._end()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()

    def _begin(self, work: Callable[[], None]) -> None:
        """Start a thread for this work; no other one may be running."""
        self._thread = threading.Thread(target=self._run, args=(work,), name="stenograph-archive")
        self._thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # `settle` raises it
            self._error = error

    def _end(self) -> None:
        """Wait for the thread, also when it failed."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _taken(self) -> Texts:
        texts, self._texts, self._text_size = self._texts, [], 0
        return texts

    def _write_rows(self) -> None:
        self.settle()
        for statement, rows in self._rows.items():
            self._connection.executemany(statement, rows)
        self._rows = {}
        self._waiting = 0

    def _write_words(self, texts: Texts) -> None:
        """Insert each batch of texts as one blob plus offsets."""
        for batch in _text_batches(texts):
            words = [with_parts(text) for _, text in batch]
            places, at = [], 1
            for (event, _), text in zip(batch, words, strict=True):
                places.append((event, at, len(text)))
                at += len(text)
            if self._is_given_up:
                return
            self._connection.execute(_WORDS, (b"".join(words), msgspec.json.encode(places).decode()))

    def _write_words_and_commit(self, texts: Texts) -> None:
        self._write_words(texts)
        if not self._is_given_up:
            self._connection.execute("COMMIT")
            self._committed = self._connection.total_changes
            self._connection.execute("BEGIN IMMEDIATE")


def _text_batches(texts: Texts) -> Iterator[Texts]:
    """Batches of texts, ordered by event id: FTS5 opens a new segment when a rowid goes down."""
    texts = sorted(texts)
    start = size = 0
    for place, (_, text) in enumerate(texts, 1):
        size += len(text)
        if size >= _BATCH_BYTES or place == len(texts):
            yield texts[start:place]
            start, size = place, 0
