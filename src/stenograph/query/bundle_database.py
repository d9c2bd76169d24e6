"""A bundle as a database, made for the first query and kept beside the bundle, where that is writable.

The kept file carries the fingerprint of the bundle's bytes. A bundle that was changed is another bundle, and its
database is made again. A file that another user could have put there is not trusted.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from stenograph.bundle.retention import CACHE_SUFFIX
from stenograph.bundle.seal import fingerprint
from stenograph.errors import SourceError, StenographError, StoreError
from stenograph.query.bundle_parts import ALL, INDEX, parts_of
from stenograph.query.bundle_tables import SCHEMA_VERSION
from stenograph.query.sql import open_readonly

WORTH_KEEPING = 1 << 20
"""A bundle's uncompressed size from which its database is kept: that of a smaller one is made in no time."""
_FAST = (
    "page_size = 16384",
    "journal_mode = OFF",
    "synchronous = OFF",
    "locking_mode = EXCLUSIVE",
    "cache_size = -65536",
)
"""Unsafe but fast: no process reads the file before it is complete."""


@contextmanager
def bundle_database(path: str | os.PathLike[str], sql: str | None = None) -> Iterator[sqlite3.Connection]:
    """A read-only connection to the tables of a bundle; raises `SourceError` for a file that is not a bundle.

    Given the query, only the tables that it reads are filled, which saves time; raises `InvalidQuery` when the query
    cannot be run.
    """
    place = Path(path)
    mark = fingerprint(place)
    kept = place.with_name(place.name + CACHE_SUFFIX)
    parts = ALL | {INDEX} if sql is None else parts_of(sql)
    with _database(place, kept, mark, parts - {INDEX}) as database:
        if INDEX in parts:
            from stenograph.query.bundle_index import indexed  # an indexer, which most queries do not need

            with indexed(place, database) as connection:
                yield connection
        else:
            with closing(open_readonly(database, is_settled=True)) as connection:
                yield connection


@contextmanager
def _database(place: Path, kept: Path, mark: tuple[str, str], parts: frozenset[str]) -> Iterator[Path]:
    """The database with the bundle's own tables: the kept one, or a temporary one."""
    there = _parts_there(kept, mark)
    if there is not None and parts <= there:
        yield kept
        return
    parts |= there or frozenset()
    if _kept(place, kept, mark, parts):
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="stenograph-") as folder:
        database = Path(folder) / "bundle.sqlite"
        _make(place, database, mark, parts)
        yield database


def _parts_there(kept: Path, mark: tuple[str, str]) -> frozenset[str] | None:
    """What the database beside a bundle holds; None when it is not there, not ours, or not of these exact bytes."""
    try:
        status = kept.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            return None
        with closing(open_readonly(kept, is_settled=True)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            digest, seal, parts = connection.execute("SELECT digest, seal, parts FROM fingerprint").fetchone()
            is_current = version == SCHEMA_VERSION and (digest, seal) == mark
            return frozenset(parts.split()) if is_current else None
    except (OSError, sqlite3.Error, TypeError, ValueError, AttributeError):
        return None


def _kept(place: Path, kept: Path, mark: tuple[str, str], parts: frozenset[str]) -> bool:
    """Make the database beside the bundle, where that is worth it and possible."""
    # The modules that make a database take longer to load than an existing database takes to answer.
    from stenograph.bundle.container import Container
    from stenograph.bundle.spool import Spool

    with Container(place) as container:
        if sum(map(container.size, container.names)) < WORTH_KEEPING:
            return False
    if not os.access(place.parent, os.W_OK):
        return False
    spool = None
    try:
        spool = Spool(place.parent)
        fresh = spool.path / "bundle.sqlite"
        _make(place, fresh, mark, parts)
        fresh.replace(kept)
        return True
    except (StoreError, OSError) as error:
        if isinstance(error, SourceError):
            raise
        return False  # no space here; there may be some elsewhere
    finally:
        if spool is not None:
            spool.discard()


def _make(place: Path, database: Path, mark: tuple[str, str], parts: frozenset[str]) -> None:
    from stenograph.bundle.container import Container
    from stenograph.query.bundle_load import load_bundle

    database.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(database)) as connection, Container(place) as container:
            for setting in _FAST:
                connection.execute(f"PRAGMA {setting}")
            load_bundle(connection, container, parts)
            connection.execute("INSERT INTO fingerprint VALUES (?, ?, ?)", (*mark, " ".join(sorted(parts))))
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.commit()
    except StenographError:
        raise
    except sqlite3.Error as error:
        raise StoreError(f"cannot write {database}: {error}; free some space there", str(database)) from error
