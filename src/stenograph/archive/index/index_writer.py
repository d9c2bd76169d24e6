"""The index while it is written: rows wait here until there are enough to write them at once.

Theory of operation. Full text is most of the work. Texts are made ready for it in a process of its own (`TextMill`),
and SQLite takes them in beside Python as long as it is one statement, in a thread. Two cores are busy, and no third is
asked for, when these take turns: while `flush` writes the plain rows, the process makes the texts ready that came with
them, and while the next events are made ready, the thread writes the words of the flush before. `commit` leaves all
words, and the commit after them, to the thread. Everyone else comes to the database through here and waits for that
thread: it never has two users. An error in the thread is raised at the next call and at every one after it, so that
nothing is committed without its words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from stenograph.archive.index.errand import Errand
from stenograph.archive.index.text_mill import TextMill, Words

_MUCH_TEXT = 1 << 22
_MOST_TEXT = 1 << 25
_MOST_ROWS = 50_000
_WORDS = """
    INSERT INTO words (rowid, text)
    SELECT json_extract(value, '$[0]'),
      CAST(substr(?1, json_extract(value, '$[1]'), json_extract(value, '$[2]')) AS TEXT)
    FROM json_each(?2)
"""
_NO_WORDS = "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"
_FACT = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
Row = tuple[Any, ...]


class IndexWriter:
    """Adds rows to the index, in a transaction that is open all the time."""

    def __init__(self, connection: sqlite3.Connection, *, searchable: bool = True) -> None:
        """`searchable`: whether words are written, too."""
        self._is_searchable = searchable
        self._connection = connection
        self._errand = Errand()
        self._mill = TextMill()
        self._is_given_up = False
        self._rows: dict[str, list[Row]] = {}
        self._waiting = 0
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
        data = text.encode()
        if self._mill.size and self._mill.size + len(data) > _MOST_TEXT:
            self.flush()
        self._mill.add(event, data)

    def note(self, fact: str, value: int) -> None:
        """Let a fact wait."""
        self.add(_FACT, (fact, value))

    @property
    def is_full(self) -> bool:
        """Whether so much waits that it should be written; while the thread is busy, more may wait."""
        text = self._mill.size
        return self._waiting >= _MOST_ROWS or text >= _MOST_TEXT or (text >= _MUCH_TEXT and not self.is_busy)

    @property
    def is_busy(self) -> bool:
        """Whether something is being written, which the next to write would wait for."""
        return self._errand.is_busy

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
        self._errand.wait()
        return self._connection.execute(query, values).fetchall()

    def flush(self) -> None:
        """Write the rows that wait, and the words that waited the last time."""
        milled = self._mill.take()
        self._mill.send()
        self._write_rows()
        self._errand.start(partial(self._write_words, milled))

    def commit(self) -> None:
        """Write what waits, and make it visible to readers; the errors of it are told later. See `settle`."""
        self._mill.send()
        self._write_rows()
        self._errand.start(partial(self._write_words_and_commit, self._mill.take()))

    def drain(self) -> None:
        """Write everything that waits, words included, here and now."""
        self._mill.send()
        self._write_rows()
        self._write_words(self._mill.take())

    def remove_words(self, words: list[tuple[int, str]]) -> None:
        """Take the words of events out, each with its text as it was given to the index. Nothing may wait."""
        self._errand.wait()
        self._connection.executemany(_NO_WORDS, words)

    def settle(self) -> None:
        """Wait until what was begun is done."""
        self._errand.wait()

    def close(self) -> None:
        """Give up what is not committed, and let go of the database."""
        self._is_given_up = True
        if self._errand.is_busy:
            self._connection.interrupt()
        self._errand.end()
        self._mill.close()
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.close()

    def _write_rows(self) -> None:
        self._errand.wait()
        for statement, rows in self._rows.items():
            self._connection.executemany(statement, rows)
        self._rows = {}
        self._waiting = 0

    def _write_words(self, milled: Iterator[Words]) -> None:
        """The texts of a sack as one piece, and where each is. At a lower id than the last, the index begins a part."""
        for words in milled:
            places, at = [], 1
            for event, text in words:
                places.append((event, at, len(text)))
                at += len(text)
            if self._is_given_up:
                return
            texts = b"".join([text for _, text in words])
            self._connection.execute(_WORDS, (texts, msgspec.json.encode(places).decode()))

    def _write_words_and_commit(self, milled: Iterator[Words]) -> None:
        self._write_words(milled)
        if not self._is_given_up:
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")
