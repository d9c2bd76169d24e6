"""SQLite databases that other programs own and may be writing: opened for reading, and never changed."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stenograph.errors import SourceError
from stenograph.sources.files import Open

MAGIC = b"SQLite format 3\0"
PATIENCE = 5.0
"""Seconds to wait for a writer that holds the whole database."""


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection for reading one unchanging state, with what is still in the write-ahead log.

    Texts come as bytes. Raises `SourceError` for errors of SQLite.
    """
    connection = None
    try:
        # Not immutable: that would not see the write-ahead log, in which a whole session may be.
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)
        connection.text_factory = bytes
        connection.isolation_level = None
        connection.execute("BEGIN")
        yield connection
    except sqlite3.Error as error:
        raise _refused(path, error) from error
    finally:
        if connection is not None:
            connection.close()


def _refused(path: Path, error: sqlite3.Error) -> SourceError:
    advice = "try again when its owner is done" if "locked" in str(error) else "check the file and its permissions"
    return SourceError(f"cannot read the database {path}: {error}; {advice}", str(path))


def is_database(path: Path, open: Open) -> bool:
    """Whether a file is an SQLite database, by its first bytes."""
    try:
        with open(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def head_of_database(path: Path) -> list[Any]:
    """A record by which a database's program is recognized: with the names of its tables."""
    with reading(path) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return [{"database": "sqlite", "tables": [name.decode("utf-8", "replace") for (name,) in rows]}]
