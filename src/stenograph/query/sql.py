"""SQL that can only read, and that terminates.

Theory of operation. There are three protections. The database is opened read-only. SQLite asks an
authorizer about everything that a statement would do, and only reading is allowed: no writing, attaching, loading,
pragmas or transactions. And a statement has limits: a clock that is checked every few thousand steps, and limits on
rows, on bytes, and on the size of a single value. Whichever stops it, `InvalidQuery` says which.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from msgspec import Struct

from stenograph.errors import InvalidQuery, SourceError, unreadable


class Limits(Struct, frozen=True, kw_only=True):
    """The limits of one query; None means unlimited."""

    rows: int | None = 100_000
    bytes: int | None = 256 << 20
    """The size of all values of the result together."""
    seconds: float | None = 30.0
    """Spent in the database; the time that its reader takes does not count."""
    value_bytes: int = 256 << 20
    """The size of a single value, and of a single row."""
    heap_bytes: int | None = None
    """What SQLite may hold in memory. It applies to the whole process, and can never be raised again."""


Row = tuple[Any, ...]

_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
_PRAGMAS = {"data_version", "table_info", "table_xinfo", "table_list", "index_list", "index_info"}
"""Pragmas that only describe the schema; full text search itself asks for `data_version`."""
_SCHEMAS = {"sqlite_master", "sqlite_temp_master"}
"""SQLite asks to update these when it first uses a virtual table; it refuses a statement that does so by itself."""
_STEPS = 4000
"""Steps between two checks of the clock: about a tenth of a millisecond."""
_BATCH = 256
_LONGEST_SQL = 1_000_000
_LONGEST_PATTERN = 1000
"""Matching takes pattern times text, and the clock is not checked meanwhile."""
_BROKEN = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
}
"""Errors of the database itself, not of the query."""


def open_readonly(path: str | os.PathLike[str], *, is_settled: bool = False) -> sqlite3.Connection:
    """A connection that cannot write; raises `SourceError`. `is_settled`: no process writes the file any more."""
    place = Path(path)
    mode = "mode=ro&immutable=1" if is_settled else "mode=ro"
    try:
        place.stat()
        connection = sqlite3.connect(f"file:{quote(os.fsencode(place.absolute()))}?{mode}", uri=True)
    except OSError as error:
        raise unreadable(place, error) from error
    except sqlite3.Error as error:
        raise SourceError(f"cannot open {place}: {error}; check the file and its permissions", str(place)) from error
    return connection


def run_sql(
    connection: sqlite3.Connection, sql: str, limits: Limits | None = None, *, only_views: bool = False
) -> Result:
    """Run one statement that reads; raises `InvalidQuery`, or `SourceError` when the database is broken.

    The connection only reads from then on, and serves one result at a time. `only_views`: it is one of `views_of`, and
    nothing but its views is read.
    """
    return Result(connection, sql, limits or Limits(), only_views)


class Result:
    """The result of a query: `columns`, and the rows, which are fetched while it is iterated; iterate it once.

    A limit that is reached on the way raises `InvalidQuery` after the rows within it were returned.
    """

    def __init__(self, connection: sqlite3.Connection, sql: str, limits: Limits, only_views: bool = False) -> None:
        self._limits = limits
        self._seconds_left = limits.seconds
        self._deadline = 0.0
        self._is_late = False
        self._cursor = connection.cursor()
        _restrict(connection, limits, only_views)
        connection.set_progress_handler(self._is_to_stop, _STEPS)
        self._waiting = self._fetched(sql)
        described = self._cursor.description
        if described is None:
            raise InvalidQuery("this reads nothing; give one SELECT")
        self.columns: tuple[str, ...] = tuple(column[0] for column in described)

    def __iter__(self) -> Iterator[Row]:
        rows, room = self._limits.rows, self._limits.bytes
        count = size = 0
        while self._waiting:
            for row in self._waiting:
                count += 1
                size += sum(map(_size, row))
                if rows is not None and count > rows:
                    raise InvalidQuery(f"the result has more than {rows:,} rows; add LIMIT, or count and group")
                if room is not None and size > room:
                    raise InvalidQuery(
                        f"the result has more than {room:,} bytes, reached in row {count:,}; select fewer columns or "
                        "rows, or substr() of long ones"
                    )
                yield row
            self._waiting = self._fetched()

    def _fetched(self, sql: str | None = None) -> list[Row]:
        """The next rows, with the clock running."""
        began = time.monotonic()
        left = self._seconds_left
        self._deadline = float("inf") if left is None else began + left
        try:
            if sql is not None:
                self._cursor.execute(sql)
            rows: list[Row] = self._cursor.fetchmany(_BATCH)
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
            self._refuse(error)
        if left is not None:
            self._seconds_left = left - (time.monotonic() - began)
        return rows

    def _is_to_stop(self) -> bool:
        self._is_late = time.monotonic() >= self._deadline
        return self._is_late

    def _refuse(self, error: Exception) -> NoReturn:
        with suppress(sqlite3.Error):
            self._cursor.close()
        code = getattr(error, "sqlite_errorcode", 0)
        if code == sqlite3.SQLITE_INTERRUPT and not self._is_late:
            raise KeyboardInterrupt from None  # Ctrl-C while the clock was checked: SQLite hides what was raised there
        if code & 0xFF in _BROKEN:
            raise SourceError(f"the database cannot be read: {error}; rebuild it") from error
        raise InvalidQuery(self._reason(error, code)) from error

    def _reason(self, error: Exception, code: int) -> str:
        limits = self._limits
        if code == sqlite3.SQLITE_INTERRUPT:
            return f"the query took longer than {limits.seconds:g} s and was stopped; narrow it"
        if "is prohibited" in str(error):
            return f"only the views can be asked ({error}); --schema lists them"
        if code == sqlite3.SQLITE_AUTH or "not authorized" in str(error):
            return f"only reading is allowed here ({error}); give one SELECT"
        if code == sqlite3.SQLITE_TOOBIG:
            return f"the query or one of its values is too large ({error}); use substr() or fewer columns"
        if isinstance(error, MemoryError):
            return "the query needs more memory than it may have; narrow it"
        if isinstance(error, UnicodeEncodeError):
            return "the query holds a character that is not UTF-8; take it out"
        if isinstance(error, sqlite3.Warning) or "one statement" in str(error):
            return "this is more than one statement; give one SELECT"
        hint = "; --schema lists what there is" if "no such" in str(error) else ""
        return f"the query does not run: {error}{hint}"


def _restrict(connection: sqlite3.Connection, limits: Limits, only_views: bool) -> None:
    """Restrict the connection to reading, and limit all sizes."""
    connection.set_authorizer(None)
    connection.execute("PRAGMA query_only = 1")
    connection.execute("PRAGMA writable_schema = 0")
    if limits.heap_bytes is not None:
        connection.execute(f"PRAGMA hard_heap_limit = {int(limits.heap_bytes)}")
    connection.text_factory = _text
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.value_bytes)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_SQL)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)
    if not only_views:
        connection.set_authorizer(_authorize)
        return
    found = connection.execute("SELECT name FROM sqlite_temp_master WHERE type = 'view'")
    views = frozenset(name for (name,) in found)
    connection.set_authorizer(lambda *asked: _authorize_views(views, *asked))


FUNCTIONS_WITH_ROWS = frozenset({"json_each", "json_tree", "pragma_table_info", "pragma_table_xinfo"})


def _authorize_views(
    views: frozenset[str], action: int, first: str | None, second: str | None, database: str | None, source: str | None
) -> int:
    """The authorizer where only views may be read: the tables are in a database with an unguessable name.

    SQLite reads the list of tables (its column `ROWID`) before it uses a table-valued function.
    """
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() == "table_list":
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ:
        if first in _SCHEMAS:
            is_allowed = second == "ROWID" and database != "temp"
        elif database in (None, "main"):
            is_allowed = first in FUNCTIONS_WITH_ROWS or (database is None and first in views)
        else:
            is_allowed = True
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY
    return _authorize(action, first, second)


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        is_allowed = (second or "").lower() not in _FORBIDDEN_FUNCTIONS
    elif action == sqlite3.SQLITE_PRAGMA:
        is_allowed = (first or "").lower() in _PRAGMAS
    elif action == sqlite3.SQLITE_UPDATE:
        is_allowed = first in _SCHEMAS
    else:
        is_allowed = action in _READING
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _text(data: bytes) -> str:
    """A text value, which may not be UTF-8."""
    return data.decode("utf-8", "replace")


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 8
