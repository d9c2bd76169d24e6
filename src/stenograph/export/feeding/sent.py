"""SentSpans: what was sent to one destination, kept in the archive so that the next process continues from there.

Only hashes of a span are kept: of its id and of its bytes. A span is noted after the collector accepted it; if we are
killed in between, that request is sent once more, with the same ids.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import Struct

from stenograph.errors import StoreError

_SCHEMA = 1
_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE destinations (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, since_ms INTEGER NOT NULL, is_new INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE runs (
  destination INTEGER NOT NULL, run_id TEXT NOT NULL, mark TEXT, is_over INTEGER NOT NULL,
  PRIMARY KEY (destination, run_id)
) WITHOUT ROWID;
CREATE TABLE spans (
  destination INTEGER NOT NULL, run_id TEXT NOT NULL, span BLOB NOT NULL, digest BLOB NOT NULL,
  PRIMARY KEY (destination, run_id, span)
) WITHOUT ROWID;
PRAGMA user_version = {_SCHEMA};
COMMIT;
"""


class SentRun(Struct, frozen=True):
    """How far a run was sent."""

    mark: str | None
    """The state of the run at that time; None for a run that is never sent."""
    is_over: bool
    """Whether all of its spans were sent, including those that growth would change."""


class SentSpans:
    """What was sent to one destination. For one process at a time."""

    def __init__(self, path: Path, destination: str, began_ms: int) -> None:
        """`began_ms`: when sending began, if nothing was sent to this destination before. Raises `StoreError`."""
        self._path = path
        try:
            self._database = _opened(path, destination, began_ms)
            query = "SELECT id, since_ms, is_new FROM destinations WHERE name = ?"
            self._id, since, is_new = self._database.execute(query, (destination,)).fetchone()
        except (sqlite3.Error, OSError) as error:
            message = f"cannot write {path}: {error}; check its permissions, or delete it to send everything once more"
            raise StoreError(message, str(path)) from error
        self.since_ms: int = since
        """Runs whose last event is older are not sent."""
        self.is_new = bool(is_new)
        """Whether no pass was made for this destination yet."""

    def runs(self) -> dict[str, SentRun]:
        """Every run that was looked at, by its id."""
        query = "SELECT run_id, mark, is_over FROM runs WHERE destination = ?"
        return {run: SentRun(mark, bool(is_over)) for run, mark, is_over in self._database.execute(query, (self._id,))}

    def pass_over(self, run_ids: Iterable[str]) -> None:
        """Note that these runs are never sent, and that a first pass was made."""
        self.note_runs({run_id: SentRun(None, is_over=True) for run_id in run_ids})
        self._write("UPDATE destinations SET is_new = 0 WHERE id = ?", [(self._id,)])
        self.is_new = False

    def note_runs(self, runs: Mapping[str, SentRun]) -> None:
        """Note how far runs were sent."""
        rows = [(self._id, run_id, run.mark, run.is_over) for run_id, run in runs.items()]
        self._write("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?)", rows)

    def digests(self, run_id: str) -> dict[bytes, bytes]:
        """The hashes of a run's spans that were accepted, by their ids."""
        query = "SELECT span, digest FROM spans WHERE destination = ? AND run_id = ?"
        return dict(self._database.execute(query, (self._id, run_id)).fetchall())

    def note_spans(self, run_id: str, digests: Iterable[tuple[bytes, bytes]]) -> None:
        """Note spans that were accepted."""
        rows = [(self._id, run_id, span, digest) for span, digest in digests]
        self._write("INSERT OR REPLACE INTO spans VALUES (?, ?, ?, ?)", rows)

    def forget(self, run_ids: Iterable[str]) -> None:
        """Delete what is known about forgotten runs, for all destinations."""
        rows = [(run_id,) for run_id in run_ids]
        for table in ("runs", "spans"):
            self._write(f"DELETE FROM {table} WHERE run_id = ?", rows)

    def _write(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany(statement, rows)
        except sqlite3.Error as error:
            message = f"cannot note in {self._path} what was sent: {error}; check the disk"
            raise StoreError(message, str(self._path)) from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opened(path: Path, destination: str, began_ms: int) -> sqlite3.Connection:
    """The database, with a row for the destination."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(path, isolation_level=None, timeout=30.0)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        if database.execute("PRAGMA user_version").fetchone()[0] != _SCHEMA:
            database.executescript(_TABLES)
        query = "INSERT OR IGNORE INTO destinations (name, since_ms) VALUES (?, ?)"
        database.execute(query, (destination, began_ms))
    except BaseException:
        database.close()
        raise
    return database
