"""Rows that wait, and words that a thread writes."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stenograph.archive.index.event_ids import EventIds
from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.index.schema import open_index
from stenograph.archive.index.tables import MS_PER_ID
from strategies import examples

FACT = "INSERT OR REPLACE INTO facts VALUES (?, ?)"
EVENT = "INSERT INTO events (id, run, seq, source, type, timestamp, block, line) VALUES (?, 1, 1, '', '', '', 1, 1)"


def found(connection: sqlite3.Connection, query: str) -> list[int]:
    """The events that full text finds."""
    rows = connection.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (query,))
    return [number for (number,) in rows]


def test_what_waits_is_there_for_whoever_asks_for_all(tmp_path: Path) -> None:
    """The connection has every row; a look at what is written has not; readers see rows and words with the commit."""
    index = IndexWriter(open_index(tmp_path, readonly=False))
    index.add(FACT, ("one", 1), ("two", 2))
    index.add_words(9, "später é")
    index.add_words(7, "sooner \0 nul")
    assert index.written("SELECT count(*) FROM facts") == [(0,)]
    assert index.execute("SELECT count(*) FROM facts").fetchone() == (2,)
    reader = open_index(tmp_path, readonly=True)
    assert found(reader, "sooner") == []
    index.commit()
    index.settle()
    assert found(reader, "sooner") == [7]
    assert found(reader, "nul") == [7]
    assert found(reader, "später") == [9]
    reader.close()
    index.close()


def test_an_error_of_the_thread_is_told_until_the_index_is_given_up(tmp_path: Path) -> None:
    """A full disk while words are written: every later step says so, and nothing of it is committed."""
    connection = open_index(tmp_path, readonly=False)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 40}")
    index = IndexWriter(connection)
    index.add(FACT, ("one", 1))
    for number in range(200):
        index.add_words(number, " ".join(f"w{number * 1000 + each}" for each in range(1000)))
    index.commit()
    for step in (index.settle, index.commit, lambda: index.connection):
        with pytest.raises(sqlite3.OperationalError, match="full"):
            step()
    index.close()
    reader = open_index(tmp_path, readonly=True)
    assert reader.execute("SELECT count(*) FROM facts").fetchone() == (0,)
    reader.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "stenograph-archive"]


@examples(60)
@given(
    st.lists(st.lists(st.integers(-5, 20).map(lambda each: each * (MS_PER_ID << 18)) | st.none(), max_size=20)),
    st.sampled_from([0, 3, 1000]),
)
def test_ids_are_the_first_that_are_free(moments: list[list[int | None]], most: int) -> None:
    """However the taken ones are remembered: here, or in the table, or forgotten in between."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, run, seq, source, type, timestamp, block, line)")
    index = IndexWriter(connection)
    ids = EventIds(index, most)
    taken: set[int] = set()
    for batch in moments:
        last = -1
        for ms in batch:
            wanted = max(max((ms or 0) // MS_PER_ID, 0), last + 1)
            while wanted in taken:
                wanted += 1
            last = ids.take(ms, last)
            assert last == wanted
            taken.add(last)
            index.add(EVENT, (last,))
        index.flush()
        ids.forget()
    index.close()
