"""Which files of a bundle a query needs, so that the others need not be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

from stenograph.errors import InvalidQuery
from stenograph.query.bundle_tables import STATEMENTS
from stenograph.query.sql import FUNCTIONS_WITH_ROWS, Limits, run_sql

LOGS, EVENTS, INDEX = "logs", "events", "index"
"""The last is the archive's index of the events, which is made for one query and not kept."""
ALL = frozenset({LOGS, EVENTS})
_PARTS = {
    "logs": {LOGS},
    "entry_facts": {LOGS},
    "events": {EVENTS},
    "call_facts": {EVENTS},
    "usage": {EVENTS},
    "errors": {LOGS, EVENTS},
}
"""The part that each table is filled from; all other tables are short and always filled."""


def parts_of(sql: str) -> frozenset[str]:
    """The parts that a query reads; raises `InvalidQuery` for one that cannot be run."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(STATEMENTS)
        read = _read_by(connection, sql)
        if read is not None:
            return frozenset(part for _, table in read for part in _PARTS.get(table, ()))
        with suppress(InvalidQuery):
            run_sql(connection, sql, Limits(seconds=1.0))
            return ALL  # it runs, although it cannot be explained
    from stenograph.query.bundle_index import empty  # an indexer, which most queries do not need

    with empty() as connection:
        read = _read_by(connection, sql)
        if read is None:
            run_sql(connection, sql, Limits(seconds=1.0))  # says what is wrong with it
            return ALL | {INDEX}
    for database, table in read:
        if database == "main" and table not in (*FUNCTIONS_WITH_ROWS, "sqlite_master"):
            raise InvalidQuery(f"the query does not run: no such table: {table}; --schema lists what there is")
    own = {part for database, table in read if database == "bundle" for part in _PARTS.get(table, ())}
    is_indexed = any(database not in (None, "bundle", "main", "temp") for database, _ in read)
    return frozenset(own | ({INDEX} if is_indexed else set()))


def _read_by(connection: sqlite3.Connection, sql: str) -> set[tuple[str | None, str]] | None:
    """The tables that a query reads, each with its database; None when it cannot be prepared."""
    read: set[tuple[str | None, str]] = set()

    def note(action: int, table: str | None, _: str | None, database: str | None, *__: object) -> int:
        if action == sqlite3.SQLITE_READ and table is not None:
            read.add((database, table))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    try:
        connection.execute(f"EXPLAIN {sql}")  # is prepared, and does nothing
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        return None
    finally:
        connection.set_authorizer(None)
    return read
