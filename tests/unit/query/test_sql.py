"""SQL that can only read, and that ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stenograph.errors import InvalidQuery, RunNotFound, SourceError, StenographError
from stenograph.query.sql import Limits, open_readonly, run_sql

FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with a table, full text and odd characters in its name."""
    path = tmp_path / "odd ? %20 #name.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a, b)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(n, f'{{"x":{n}}}') for n in range(5)])
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
        connection.execute("INSERT INTO words(rowid, text) VALUES (1, 'hello world')")
    connection.close()
    return path


@pytest.fixture
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection to it."""
    connection = open_readonly(path)
    yield connection
    connection.close()


def refusal(connection: sqlite3.Connection, sql: str, **limits: object) -> str:
    """What a query is refused with."""
    with pytest.raises(InvalidQuery) as refused:
        list(run_sql(connection, sql, Limits(**limits)))  # type: ignore[arg-type]
    assert refused.value.exit_code == 2
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_query_gives_columns_and_rows(database: sqlite3.Connection) -> None:
    """Columns are known at once, rows come as they are asked for, JSON operators and table functions work."""
    result = run_sql(database, "SELECT a, b->>'x' AS x FROM t WHERE a < 2")
    assert result.columns == ("a", "x")
    assert list(result) == [(0, 0), (1, 1)]
    assert list(run_sql(database, "SELECT value FROM json_each('[1, 2]')")) == [(1,), (2,)]
    assert list(run_sql(database, "SELECT rowid FROM words WHERE words MATCH 'hello'")) == [(1,)]
    assert [row[0] for row in run_sql(database, "SELECT name FROM pragma_table_info('t')")] == ["a", "b"]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO t VALUES (1, 2)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE VIRTUAL TABLE x USING fts5(a)",
        "ALTER TABLE t RENAME TO u",
        "UPDATE sqlite_master SET sql = ''",
        "UPDATE sqlite_temp_master SET sql = ''",
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "PRAGMA writable_schema = 1",
        "PRAGMA query_only = 0",
        "PRAGMA journal_mode = DELETE",
        "BEGIN",
        "SAVEPOINT a",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "REINDEX",
        "ANALYZE",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('simple')",
        "INSERT INTO words(words) VALUES ('optimize')",
    ],
)
def test_nothing_but_reading_is_allowed(database: sqlite3.Connection, path: Path, sql: str) -> None:
    """Whatever writes, attaches, loads or opens a transaction is refused, and the file stays as it was."""
    before = path.read_bytes()
    refusal(database, sql)
    assert path.read_bytes() == before
    assert not (Path.cwd() / "copy.db").exists()


def test_what_would_write_is_refused_also_on_a_connection_that_could(tmp_path: Path) -> None:
    """The authorizer does not rely on how the database was opened."""
    connection = sqlite3.connect(tmp_path / "writable.db")
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    assert "only reading" in refusal(connection, "INSERT INTO t VALUES (1)")
    assert list(run_sql(connection, "SELECT count(*) FROM t")) == [(0,)]
    connection.close()


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT 1; DROP TABLE t", "more than one statement"),
        ("", "reads nothing"),
        ("-- nothing", "reads nothing"),
        ("SELEC 1", "syntax error"),
        ("SELECT nope FROM t", "no such column: nope; --schema"),
        ("SELECT * FROM nope", "no such table: nope; --schema"),
        ("SELECT 1 \0", "null character"),
        ("SELECT '\ud800'", "not UTF-8"),
        ("SELECT json_extract('{', '$')", "malformed JSON"),
        ("SELECT 1 WHERE " + "1 AND " * 200_000 + "1", "too large"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(database: sqlite3.Connection, sql: str, words: str) -> None:
    """A wrong query is the asker's: one clear line, exit code 2."""
    assert words in refusal(database, sql)


def test_a_query_that_never_ends_is_stopped(database: sqlite3.Connection) -> None:
    """The clock stops it before its first row, and between rows."""
    assert "longer than 0.05 s" in refusal(database, FOREVER.format("count(*)"), seconds=0.05)
    assert "longer than 0.05 s" in refusal(database, FOREVER.format("i"), seconds=0.05, rows=None, bytes=None)


def test_the_clock_does_not_count_the_reader(database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who reads slowly still gets every row."""
    now = [100.0]
    monkeypatch.setattr("stenograph.query.sql.time", SimpleNamespace(monotonic=lambda: now[0]))
    result = run_sql(database, FOREVER.format("i") + " LIMIT 600", Limits(seconds=0.5))
    rows = iter(result)
    next(rows)
    now[0] += 3600
    assert len(list(rows)) == 599


def test_a_result_ends_at_its_limits(database: sqlite3.Connection) -> None:
    """Rows within the limit come, then the error; so with bytes, and a value may not grow for ever."""
    rows = iter(run_sql(database, FOREVER.format("i"), Limits(rows=3)))
    assert [next(rows) for _ in range(3)] == [(1,), (2,), (3,)]
    with pytest.raises(InvalidQuery, match="more than 3 rows"):
        next(rows)
    assert list(run_sql(database, "SELECT a FROM t", Limits(rows=5)))[-1] == (4,)
    assert "more than 1,000 bytes" in refusal(database, "SELECT printf('%2000d', 1)", bytes=1000)
    assert "too large" in refusal(database, "SELECT hex(zeroblob(600000))", value_bytes=1_000_000)
    assert "too large" in refusal(database, "SELECT group_concat(t.b) FROM t, t AS u, t AS v", value_bytes=500)


def test_memory_has_a_limit(python: Callable[..., Any]) -> None:
    """A query that would hold more than it may is stopped (in a process of its own: the limit is the process's)."""
    script = """
        import sqlite3
        from stenograph.errors import InvalidQuery
        from stenograph.query.sql import Limits, run_sql
        wide = ", ".join(f"hex(zeroblob(4000000)) AS c{n}" for n in range(20))
        try:
            list(run_sql(sqlite3.connect(":memory:"), f"SELECT {wide}", Limits(heap_bytes=32 << 20)))
        except InvalidQuery as error:
            print(error)
    """
    assert "more memory" in python(script).stdout


def test_text_that_is_not_utf8_is_shown(database: sqlite3.Connection) -> None:
    """Bytes that are no characters become U+FFFD instead of an error."""
    assert list(run_sql(database, "SELECT CAST(x'41ff' AS TEXT)")) == [("A\ufffd",)]


def test_a_broken_database_is_no_mistake_of_the_query(tmp_path: Path) -> None:
    """A file that is no database, or none at all, is a `SourceError`."""
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 1000)
    connection = open_readonly(broken)
    with pytest.raises(SourceError):
        run_sql(connection, "SELECT * FROM sqlite_master")
    connection.close()
    with pytest.raises(RunNotFound):
        open_readonly(tmp_path / "missing.db")


def test_an_interrupt_goes_through(python: Callable[..., Any]) -> None:
    """Ctrl-C in the middle of a long query is Ctrl-C, and no timeout."""
    script = """
        import _thread, sqlite3, threading
        from stenograph.query.sql import Limits, run_sql
        try:
            threading.Timer(0.3, _thread.interrupt_main).start()
            run_sql(sqlite3.connect(":memory:"), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                    "SELECT count(*) FROM n", Limits(seconds=50))
        except KeyboardInterrupt:
            print("interrupted")
    """
    assert python(script).stdout == "interrupted\n"


def test_what_is_refused_is_a_value_error_of_ours() -> None:
    """Callers may catch it as either."""
    assert issubclass(InvalidQuery, StenographError)
    assert issubclass(InvalidQuery, ValueError)
