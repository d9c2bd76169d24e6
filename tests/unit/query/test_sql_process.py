"""SQL that is stopped whatever it does, in a process that can be killed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from children import children
from stenograph.errors import InvalidQuery, SourceError
from stenograph.query.sql import Limits
from stenograph.query.sql_process import SqlProcess

ENDLESS = [
    "SELECT instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1')",
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c",
]


@contextmanager
def memory() -> Iterator[sqlite3.Connection]:
    """A database with nothing in it."""
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


def asked(sql: str, **limits: float | None) -> list[tuple[object, ...]]:
    with SqlProcess(memory, sql, Limits(**limits)) as result:  # type: ignore[arg-type]
        return [result.columns, *result]


def test_rows_come_as_they_are_in_this_process() -> None:
    """Columns, all kinds of values, and many rows."""
    sql = "SELECT 1 AS a, 1.5 AS b, 'x' AS c, x'ff' AS d, NULL AS e"
    assert asked(sql) == [("a", "b", "c", "d", "e"), (1, 1.5, "x", b"\xff", None)]
    many = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 2000) SELECT n FROM c"
    assert asked(many)[1:] == [(n,) for n in range(1, 2001)]


@pytest.mark.parametrize("sql", ENDLESS)
def test_every_statement_is_stopped(sql: str) -> None:
    """Also one that is inside a single function of SQLite, which looks at no clock; the child is gone."""
    before = children()
    with pytest.raises(InvalidQuery, match=r"took longer than 0\.1 s"):
        asked(sql, seconds=0.1)
    assert children() <= before


def test_errors_are_those_of_the_statement(tmp_path: Path) -> None:
    """A mistake, a limit after rows that came before it, and a database that cannot be opened."""
    with pytest.raises(InvalidQuery, match="no such table"):
        asked("SELECT * FROM nowhere")
    rows = []
    with (
        pytest.raises(InvalidQuery, match="more than 2 rows"),
        SqlProcess(memory, "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3", Limits(rows=2)) as result,
    ):
        rows += result
    with pytest.raises(SourceError, match="gone"):
        SqlProcess(_gone, "SELECT 1", Limits())


@contextmanager
def _gone() -> Iterator[sqlite3.Connection]:
    raise SourceError("the database is gone")
    yield sqlite3.connect(":memory:")


def test_a_child_that_dies_is_an_error() -> None:
    """Such as one that the system killed for its memory."""

    @contextmanager
    def dying() -> Iterator[sqlite3.Connection]:
        os._exit(9)
        yield sqlite3.connect(":memory:")

    with pytest.raises(SourceError, match="without an answer"):
        SqlProcess(dying, "SELECT 1", Limits())
