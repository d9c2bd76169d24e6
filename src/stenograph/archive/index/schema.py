"""Opening a connection to the index.

The index is disposable: one with a lower number than `SCHEMA` is rebuilt from the packs, and one with a higher number
is refused, because a newer program owns it.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from stenograph.archive.index.tables import SCHEMA, TABLES
from stenograph.errors import RunNotFound, SourceError, StoreError

PATIENCE = 30.0
"""Seconds that a reader or writer waits for a lock of the database."""


INDEX = "index.db"


def open_index(home: str | os.PathLike[str], *, readonly: bool, name: str = INDEX) -> sqlite3.Connection:
    """A connection to the index of the archive in the folder `home`; `name` is the file.

    With `readonly`, the index must exist and have our schema; else an empty one is made where there is none. The caller
    begins and ends transactions. Raises `RunNotFound` where there is no archive yet, `SourceError` or `StoreError` for
    an index of another version of the program.
    """
    path = Path(home) / name
    if not readonly:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    if readonly and not path.is_file():
        raise RunNotFound(f"there is no archive in {home} yet; run: steno sync", str(home))
    connection = _connected(path, readonly)
    try:
        number = connection.execute("PRAGMA user_version").fetchone()[0]
        check_schema(home, number, readonly)
        if number == 0:
            _create(connection)
        if not readonly:
            _name(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def check_schema(home: object, number: int, readonly: bool) -> None:
    """Raise for an index that this program cannot use: a newer one, or, to read, an older one before a sync."""
    if number > SCHEMA:
        message = f"the archive in {home} was written by a newer Stenograph (schema {number}, we know {SCHEMA}); update"
        raise (SourceError if readonly else StoreError)(message, str(home))
    if readonly and number < SCHEMA:
        raise SourceError(f"the index in {home} was written by an older Stenograph; run: steno sync", str(home))


def schema_of(path: Path) -> int | None:
    """The number of the schema of an index; None where there is no index, or SQLite cannot read it."""
    if not path.is_file():
        return None
    try:
        connection = _connected(path, readonly=True)
        try:
            number: int = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.DatabaseError:
        return None
    return number


def readonly_address(path: Path) -> str:
    """The URI by which an index is opened for reading, also in a folder without write permission.

    SQLite makes a file beside a database to read it. Where that is not possible, the database is opened as immutable,
    which is right as long as its write-ahead log is empty.
    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            connection.execute("PRAGMA user_version").fetchone()
        return address
    except sqlite3.OperationalError as error:
        if not _is_refused_to_write(error):
            raise
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise SourceError(
            f"the index {path} cannot be read without write permission, because a part of it is in {log.name}; "
            "copy the archive to a folder that you can write to",
            str(path),
        )
    return f"{address}&immutable=1"


def _is_refused_to_write(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def _connected(path: Path, readonly: bool) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            readonly_address(path) if readonly else f"{path.absolute().as_uri()}?mode=rwc",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.OperationalError as error:
        kind = SourceError if readonly else StoreError
        raise kind(f"cannot open the index {path}: {error}; check its permissions", str(path)) from error
    try:
        connection.execute("PRAGMA cache_size = -32768")
        if not readonly:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def index_name(connection: sqlite3.Connection) -> str:
    """A random name that an index gets when it is made: two indexes with the same name are copies."""
    number: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return f"{number:08x}"


def _name(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] == 0:
        import secrets  # loads OpenSSL, and only a new index needs it

        connection.execute(f"PRAGMA application_id = {secrets.randbelow((1 << 31) - 1) + 1}")


def _create(connection: sqlite3.Connection) -> None:
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {SCHEMA}; COMMIT;")
