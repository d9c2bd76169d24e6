"""The index while it is written: rows and texts wait here until there are enough to write them at once.

Theory of operation. Full text is most of the work, and SQLite takes it in beside Python as long as it is one statement.
So a thread writes the words of one flush while the next events are made ready: it makes a sack of texts searchable, and
gives the sack to one statement. Everyone else comes to the database through here and waits for that thread: it never
has two users. `commit` leaves all words, and the commit after them, to the thread. An error in the thread is raised at
the next call and at every one after it, so that nothing is committed without its words.
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
_SACK = 1 << 20
"""Bytes of text that are given to one statement."""
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
        """`searchable`: whether words are written, too."""
        self._is_searchable = searchable
        self._connection = connection
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        """What the thread raised: its work was never done."""
        self._is_given_up = False
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0
        self._texts: Texts = []
        self._text_size = 0
        connection.execute("BEGIN IMMEDIATE")

    def add(self, statement: str, *rows: Row) -> None:
        """Let rows wait for their statement. Statements run in the order in which they were first given.

        So one that reads what another writes comes after it in every batch, and the other is given without rows, too.
        """
        self._rows.setdefault(statement, []).extend(rows)
        self._waiting += len(rows)

    def add_words(self, event: int, text: str) -> None:
        """Let the words of an event wait."""
        if not self._is_searchable:
            return
        data = spaced(text).encode()
        if self._text_size and self._text_size + len(data) > _MOST_TEXT:
            self.flush()
        self._texts.append((event, data))
        self._text_size += len(data)

    def note(self, fact: str, value: int) -> None:
        """Let a fact wait."""
        self.add(_FACT, (fact, value))

    @property
    def is_full(self) -> bool:
        """Whether so much waits that it should be written; while the thread is busy, more may wait."""
        text = self._text_size
        return self._waiting >= _MOST_ROWS or text >= _MOST_TEXT or (text >= _MUCH_TEXT and not self.is_busy)

    @property
    def is_busy(self) -> bool:
        """Whether something is being written, which the next to write would wait for."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def connection(self) -> sqlite3.Connection:
        """The database with everything in it that was added so far, words aside."""
        self._write_rows()
        return self._connection

    def execute(self, query: str, values: Row = ()) -> sqlite3.Cursor:
        """What a query gives on everything that was added so far, words aside."""
        return self.connection.execute(query, values)

    def written(self, query: str, values: Row = ()) -> list[Row]:
        """What a query gives on everything but what waits."""
        self.settle()
        return self._connection.execute(query, values).fetchall()

    def flush(self) -> None:
        """Write what waits; the words of it are written while others are made ready."""
        self._write_rows()
        self._begin(partial(self._write_words, self._taken()))

    def commit(self) -> None:
        """Write what waits, and make it visible to readers; the errors of it are raised later. See `settle`."""
        self._write_rows()
        self._begin(partial(self._write_words_and_commit, self._taken()))

    def drain(self) -> None:
        """Write everything that waits, words included, here and now."""
        self._write_rows()
        self._write_words(self._taken())

    def remove_words(self, words: list[tuple[int, str]]) -> None:
        """Take the words of events out, each with its text as it was given to the index. Nothing may wait."""
        self.settle()
        self._connection.executemany(_NO_WORDS, words)

    def settle(self) -> None:
        """Wait until what was begun is done; raises what it raised, now and at every later call."""
        self._end()
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Give up what is not committed, and let go of the database."""
        self._is_given_up = True
        if self.is_busy:
            self._connection.interrupt()
        self._end()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()

    def _begin(self, work: Callable[[], None]) -> None:
        """Let the thread do this; it has nothing else to do by now."""
        self._thread = threading.Thread(target=self._run, args=(work,), name="stenograph-archive")
        self._thread.start()

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # `settle` raises it
            self._error = error

    def _end(self) -> None:
        """Wait for the thread, whatever came of its work."""
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
        """The texts of a sack as one piece, and where each is."""
        for sack in _sacks(texts):
            words = [with_parts(text) for _, text in sack]
            places, at = [], 1
            for (event, _), text in zip(sack, words, strict=True):
                places.append((event, at, len(text)))
                at += len(text)
            if self._is_given_up:
                return
            self._connection.execute(_WORDS, (b"".join(words), msgspec.json.encode(places).decode()))

    def _write_words_and_commit(self, texts: Texts) -> None:
        self._write_words(texts)
        if not self._is_given_up:
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")


def _sacks(texts: Texts) -> Iterator[Texts]:
    """The texts by the ids of their events, some at a time: at a lower id than the last, full text begins a part."""
    texts = sorted(texts)
    start = size = 0
    for place, (_, text) in enumerate(texts, 1):
        size += len(text)
        if size >= _SACK or place == len(texts):
            yield texts[start:place]
            start, size = place, 0
