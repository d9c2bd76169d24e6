"""Search over a lake: the texts of some days are read, and those that may have the words are searched as in an archive.

The table has no index of words. DuckDB picks the texts that have the words as letters; whether the query is found in
them, SQLite's full text search says, which also says so in an archive.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stenograph.archive.index.words import event_text, searchable
from stenograph.fleet.lake.rows import line_of
from stenograph.model.codec import decode
from stenograph.model.event import Event
from stenograph.query.language import Query
from stenograph.query.period import Period
from stenograph.query.search import Hit, Wanted
from stenograph.query.snippet import Snippets, is_in

if TYPE_CHECKING:
    import duckdb

_WORDS = "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2')"
_AT_ONCE = 1000


class Scanned(Struct, kw_only=True):
    """What a search read."""

    events: int = 0
    runs: int = 0


def search(
    connection: duckdb.DuckDBPyConnection,
    query: Query,
    runs: list[str] | None,
    period: Period,
    wanted: Wanted,
    mask: Callable[[Event], Event] | None = None,
    *,
    by_rank: bool = False,
) -> Iterator[Hit]:
    """The events in which a query is found, newest first, or the most relevant first; of some runs, or of all."""
    condition, values = _condition(query, runs, period, wanted)
    rows = connection.execute(
        f"""
        SELECT run_id, source, seq, coalesce(timestamp, ''), role, tool_name, text, payload, envelope
        FROM named_events WHERE {condition} ORDER BY time DESC NULLS LAST, archive, run_id, seq DESC
        """,
        values,
    )
    snippets = Snippets(query.phrases)
    if by_rank:
        found = _found(rows.fetchall(), query, by_rank=True)
        yield from (_hit(row, snippets, mask) for row in found)
        return
    while some := rows.fetchmany(_AT_ONCE):
        yield from (_hit(row, snippets, mask) for row in _found(some, query))


def runs_found(connection: duckdb.DuckDBPyConnection, query: Query, period: Period) -> set[str]:
    """The ids of the runs in which a query is found."""
    condition, values = _condition(query, None, period, Wanted())
    columns = "run_id, NULL, NULL, NULL, NULL, NULL, text"
    rows = connection.execute(f"SELECT {columns} FROM current_events WHERE {condition}", values)
    found: set[str] = set()
    while some := rows.fetchmany(_AT_ONCE):
        found.update(row[0] for row in _found([row for row in some if row[0] not in found], query))
    return found


def scanned(connection: duckdb.DuckDBPyConnection, period: Period) -> Scanned:
    """How much a search of that period reads."""
    condition = " AND ".join(_moments(period)) or "true"
    query = f"SELECT count(*), count(DISTINCT (archive, run_id)) FROM current_events WHERE {condition}"
    events, runs = connection.execute(query).fetchall()[0]
    return Scanned(events=events, runs=runs)


def _found(rows: list[tuple[Any, ...]], query: Query, *, by_rank: bool = False) -> Iterator[tuple[Any, ...]]:
    """The rows whose text the query is found in."""
    with closing(sqlite3.connect(":memory:")) as index:
        index.execute(_WORDS)
        texts = ((number, searchable(row[6] or "")) for number, row in enumerate(rows))
        index.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", texts)
        order = "rank" if by_rank else "rowid"
        for (number,) in index.execute(f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY {order}", (query.match,)):
            if all(is_in(phrase, rows[number][6]) for phrase in query.long):
                yield rows[number]


def _hit(row: tuple[Any, ...], snippets: Snippets, mask: Callable[[Event], Event] | None) -> Hit:
    run_id, source, seq, timestamp, role, tool_name, text, payload, envelope = row
    if mask is not None:
        text = event_text(mask(decode(line_of(payload, envelope))))
    return Hit(
        run_id=run_id,
        source=source,
        seq=seq,
        timestamp=timestamp,
        role=role,
        tool_name=tool_name,
        snippet=snippets.of(text or ""),
    )


def _condition(query: Query, runs: list[str] | None, period: Period, wanted: Wanted) -> tuple[str, list[Any]]:
    """What a hit must be, as far as DuckDB can check: its text has at least one of the ASCII words."""
    conditions = ["text IS NOT NULL", *_moments(period)]
    values: list[Any] = []
    words = [max(phrase.words, key=len) for phrase in query.phrases]
    if all(word.isascii() for word in words):
        conditions.append(f"({' OR '.join('strip_accents(text) ILIKE ?' for _ in words)})")
        values += [f"%{word}%" for word in words]
    if runs is not None:
        conditions.append("run_id IN (SELECT unnest(?))")
        values.append(runs)
    if wanted.role is not None:
        conditions.append("role = ?")
        values.append(wanted.role)
    if wanted.tool is not None:
        conditions.append("lower(tool_name) = lower(?)")
        values.append(wanted.tool)
    if wanted.is_error:
        conditions.append("is_error")
    return " AND ".join(conditions), values


def _moments(period: Period) -> list[str]:
    found = []
    for bound, sign in ((period.since, ">="), (period.until, "<")):
        if bound is not None:
            found.append(f"epoch_ms(time) {sign} {bound}")
    return found
