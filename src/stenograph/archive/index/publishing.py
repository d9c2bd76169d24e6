"""Replacing the index by a rebuilt one, at once for all readers.

Theory of operation. The new index is copied into the old file page by page, in one transaction: a reader that has the
old one open goes on reading it, and sees the new one with its next query. (To rename a file over it would leave the
write-ahead log of the old one beside the new one.) An old file that SQLite cannot read is replaced.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from stenograph.archive.index.schema import PATIENCE


def publish(fresh: Path, index: Path) -> None:
    """Replace the old index by a new one, which no process has open."""
    if index.exists() and _copied(fresh, index):
        remove(fresh)
        return
    remove(index)
    with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fresh.replace(index)
    remove(fresh)


def remove(index: Path) -> None:
    """Remove an index with the files beside it."""
    for suffix in ("", "-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)


def _copied(fresh: Path, index: Path) -> bool:
    try:
        with (
            closing(sqlite3.connect(fresh)) as source,
            closing(sqlite3.connect(index, timeout=PATIENCE)) as target,
        ):
            if target.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                return False
            source.backup(target)
    except sqlite3.OperationalError:  # busy, or no room: not the old index's fault
        raise
    except sqlite3.DatabaseError:
        return False
    return True
