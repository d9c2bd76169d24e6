"""Full text search over an archive: newest first, or by relevance."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from stenograph.archive.index.tables import MS_PER_ID
from stenograph.archive.index.words import event_text
from stenograph.archive.reader import IndexReader
from stenograph.errors import InvalidQuery
from stenograph.model import Event
from stenograph.query.language import Query
from stenograph.query.scope import Parameters, Scope
from stenograph.query.snippet import Snippet, Snippets, is_in


class Wanted(Struct, frozen=True, kw_only=True):
    """Filters on events, beside those on their runs."""

    role: str | None = None
    """`user`, `assistant`, `tool` or `system`."""
    tool: str | None = None
    """Calls and results of the tool with this name."""
    is_error: bool = False
    """Errors and failed tools only."""


class Hit(Struct, frozen=True, kw_only=True):
    """An event in which the query was found."""

    run_id: str
    source: str
    seq: int
    timestamp: str
    role: str | None
    tool_name: str | None
    snippet: Snippet

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values; for the snippet, its text."""
        return {**msgspec.structs.asdict(self), "snippet": self.snippet.text}


def search(
    archive: IndexReader,
    query: Query,
    scope: Scope | None = None,
    wanted: Wanted | None = None,
    *,
    limit: int = 20,
    by_rank: bool = False,
    mask: Callable[[Event], Event] | None = None,
) -> Iterator[Hit]:
    """The events in which the query is found, newest first; `by_rank`, the most relevant first.

    With a `mask`, snippets show the masked text of an event.
    """
    condition, parameters = _condition(scope or Scope(), wanted or Wanted())
    order = "words.rank" if by_rank else "words.rowid DESC"
    sql = f"""
        SELECT events.id, runs.run_id, events.source, events.seq, events.timestamp, events.role, events.tool_name
        FROM words CROSS JOIN main.events AS events ON events.id = words.rowid
        CROSS JOIN main.runs AS runs ON runs.id = events.run
        WHERE words MATCH ? AND {condition} ORDER BY {order} LIMIT ?
    """
    snippets = Snippets(query.phrases)
    rows = _rows(archive, sql, [query.match, *parameters, -1 if query.long else limit])
    for number, run_id, source, seq, timestamp, role, tool_name in islice(
        _whole(archive, rows, query), None if limit < 0 else limit
    ):
        event = archive.event(number)
        if event is not None and mask is not None:
            event = mask(event)
        yield Hit(
            run_id=run_id,
            source=source,
            seq=seq,
            timestamp=timestamp,
            role=role,
            tool_name=tool_name,
            snippet=snippets.of("" if event is None else event_text(event)),
        )


def _rows(archive: IndexReader, sql: str, parameters: Parameters) -> list[tuple[Any, ...]]:
    try:
        return archive.index.execute(sql, parameters).fetchall()
    except sqlite3.OperationalError as error:
        raise InvalidQuery(f"full text search refuses the query: {error}; make it simpler") from error


def _whole(archive: IndexReader, rows: list[tuple[Any, ...]], query: Query) -> Iterator[tuple[Any, ...]]:
    """Those rows (each begins with the id of an event) whose texts have every long phrase to its end."""
    for row in rows:
        event = archive.event(row[0]) if query.long else None
        text = "" if event is None else event_text(event)
        if all(is_in(phrase, text) for phrase in query.long):
            yield row


def count_hits(archive: IndexReader, query: Query, scope: Scope, wanted: Wanted) -> int:
    """How many events `search` finds without a limit."""
    condition, parameters = _condition(scope, wanted)
    tables = "words"
    if condition != "1":
        tables += " CROSS JOIN main.events AS events ON events.id = words.rowid"
        tables += " CROSS JOIN main.runs AS runs ON runs.id = events.run"
    what = "words.rowid" if query.long else "count(*)"
    sql = f"SELECT {what} FROM {tables} WHERE words MATCH ? AND {condition}"
    found = _rows(archive, sql, [query.match, *parameters])
    return sum(1 for _ in _whole(archive, found, query)) if query.long else int(found[0][0])


def _condition(scope: Scope, wanted: Wanted) -> tuple[str, Parameters]:
    condition, parameters = scope.of_moments("words.rowid", MS_PER_ID)
    if wanted.role is not None:
        condition += " AND events.role = ?"
        parameters.append(wanted.role)
    if wanted.tool is not None:
        condition += " AND events.tool_name = ? COLLATE NOCASE"
        parameters.append(wanted.tool)
    if wanted.is_error:
        condition += " AND events.error"
    return condition, parameters
