"""Reading an archive: its index, its events by run and number. Any number of processes may read at once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

from stenograph.archive.index.chunk import LAST_CHUNK, Chunk, unpacked
from stenograph.archive.index.schema import index_name, open_index
from stenograph.archive.store.forgotten import check_not_forgotten
from stenograph.archive.store.home import home_of
from stenograph.errors import RunNotFound
from stenograph.journal.place import ambiguous
from stenograph.model.codec import decode
from stenograph.model.event import Event

_CACHED_CHUNKS = 8
_MOST_MATCHES = 100


class IndexReader:
    """Reads an archive. For one thread at a time; close it, or use it in a `with`."""

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        """Raises `RunNotFound` where there is no archive yet, and `SourceError` for one of another version."""
        self.home = home_of(home)
        self.index: sqlite3.Connection = open_index(self.home.path, readonly=True)
        """The connection: see `schema.TABLES`."""
        self._lines = lru_cache(_CACHED_CHUNKS)(self._read_chunk)

    def runs_starting_with(self, prefix: str) -> dict[str, int]:
        """The runs whose ids begin with `prefix`, at most 100, each with its number (`runs.id`)."""
        query = "SELECT run_id, id FROM runs WHERE run_id >= ? AND run_id < ? ORDER BY run_id LIMIT ?"
        return dict(self.index.execute(query, (prefix, prefix + "\U0010ffff", _MOST_MATCHES)).fetchall())

    def find_run(self, prefix: str) -> tuple[int, str]:
        """The number and the id of a run, by its id or a unique beginning of it.

        Raises `RunNotFound` or `AmbiguousRun`.
        """
        found = self.runs_starting_with(prefix.lower()) if prefix else {}
        if not found:
            check_not_forgotten(self.home.forgotten, prefix)
            raise RunNotFound(f"no run {prefix!r} in the archive {self.home.path}; steno ls lists them", prefix)
        if len(found) > 1 and prefix.lower() not in found:
            raise ambiguous(prefix, found)
        run_id = prefix.lower() if prefix.lower() in found else next(iter(found))
        return found[run_id], run_id

    def newest_run(self, number: int = 1) -> tuple[int, str] | None:
        """The number and the id of the run with the newest events; with `number` 2, of the one before it, and so on."""
        query = "SELECT id, run_id FROM runs ORDER BY ended_ms DESC, id DESC LIMIT 1 OFFSET ?"
        found: tuple[int, str] | None = self.index.execute(query, (number - 1,)).fetchone()
        return found

    def has_whole(self, path: Path) -> bool:
        """Whether all bytes of a file are kept."""
        row = self.index.execute("SELECT kept FROM files WHERE path = ?", (str(path.resolve()),)).fetchone()
        return row is not None and row[0] == path.stat().st_size

    def events(self, run: int, first: int = 1, last: int | None = None) -> Iterator[Event]:
        """The events of a run (`runs.id`) by their numbers, read chunk by chunk; without `last`, to the end."""
        query = """
            SELECT id FROM blocks WHERE run = ? AND last_seq >= ? AND (? IS NULL OR first_seq <= ?) ORDER BY first_seq
        """
        for (chunk,) in self.index.execute(query, (run, first, last, last)).fetchall():
            for line in self._lines(chunk):
                event = decode(line)
                if first <= event.seq and (last is None or event.seq <= last):
                    yield event

    def event(self, id: int) -> Event | None:
        """One event by its id (`events.id`, and the rowid of `words`)."""
        place = self.index.execute("SELECT block, line FROM events WHERE id = ?", (id,)).fetchone()
        return None if place is None else decode(self._lines(place[0])[place[1]])

    def _read_chunk(self, chunk: int) -> list[bytes]:
        row = self.index.execute("SELECT lines FROM blocks WHERE id = ?", (chunk,)).fetchone()
        return [] if row is None else unpacked(row[0])

    def chunks(self, first: int, most_bytes: int) -> list[Chunk]:
        """The chunks from a number on, in the order in which they were made, until they have `most_bytes`.

        Removed chunks are left out.
        """
        query = """
            SELECT blocks.id, runs.run_id, revision, first_seq, blocks.last_seq, lines
            FROM blocks JOIN runs ON runs.id = run WHERE blocks.id >= ? ORDER BY blocks.id
        """
        found: list[Chunk] = []
        with closing(self.index.execute(query, (first,))) as rows:  # an open one would keep the log from being emptied
            for row in rows:
                found.append(Chunk(*row))
                most_bytes -= len(found[-1].data)
                if most_bytes <= 0:
                    break
        return found

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything inside the `with` from one state of the index."""
        self.index.execute("BEGIN")
        try:
            yield
        finally:
            self.index.execute("COMMIT")

    @property
    def index_name(self) -> str:
        """The name of the index: a rebuilt one has another."""
        return index_name(self.index)

    def last_chunk(self) -> int:
        """The highest number that a chunk ever had."""
        last: int = self.index.execute(LAST_CHUNK).fetchone()[0]
        return last

    def close(self) -> None:
        """Close the index."""
        self.index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
