"""Which files of a bundle a query needs: nobody waits for the others to be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from stenograph.query.bundle_tables import STATEMENTS
from stenograph.query.sql import Limits, run_sql

LOGS, EVENTS = "logs", "events"
ALL = frozenset({LOGS, EVENTS})
_PARTS = {
    "logs": {LOGS},
    "entry_facts": {LOGS},
    "events": {EVENTS},
    "call_facts": {EVENTS},
    "usage": {EVENTS},
    "errors": {LOGS, EVENTS},
}
"""What the tables are filled from; the others are short and always there."""


def parts_of(sql: str) -> frozenset[str]:
    """The parts that a query reads; raises `InvalidQuery` for one that cannot be run."""
    read: set[str] = set()

    def note(action: int, table: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ and table is not None:
            read.add(table)
        return sqlite3.SQLITE_OK

    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(STATEMENTS)
        empty.set_authorizer(note)
        try:
            empty.execute(f"EXPLAIN {sql}")  # is prepared, and does nothing
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            run_sql(empty, sql, Limits(seconds=1.0))  # says what is wrong with it, when something is
            return ALL
    return frozenset(part for table in read for part in _PARTS.get(table, ()))
