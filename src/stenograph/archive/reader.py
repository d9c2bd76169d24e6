"""An archive to read from: its index, its events by run and number, its kept bytes. Any number of processes may."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

from stenograph.archive.index.block import LAST_BLOCK, Block, unpacked
from stenograph.archive.index.schema import made_as, open_index
from stenograph.archive.store.forgotten import check_not_forgotten
from stenograph.archive.store.home import home_of
from stenograph.errors import RunNotFound
from stenograph.journal.place import ambiguous
from stenograph.model.codec import decode
from stenograph.model.event import Event

_BLOCKS_AT_HAND = 8
_MOST_FITTING = 100


class IndexReader:
    """Reads an archive. For one thread at a time; close it, or use it in a `with`."""

    def __init__(self, home: str | os.PathLike[str] | None = None) -> None:
        """Raises `RunNotFound` where there is no archive yet, and `SourceError` for one of another version."""
        self.home = home_of(home)
        self.index: sqlite3.Connection = open_index(self.home.path, readonly=True)
        """The connection: see `schema.TABLES`."""
        self._lines = lru_cache(_BLOCKS_AT_HAND)(self._read_block)

    def runs_starting_with(self, prefix: str) -> dict[str, int]:
        """The ids of runs that begin so, a few at most, each with its number (`runs.id`)."""
        query = "SELECT run_id, id FROM runs WHERE run_id >= ? AND run_id < ? ORDER BY run_id LIMIT ?"
        return dict(self.index.execute(query, (prefix, prefix + "\U0010ffff", _MOST_FITTING)).fetchall())

    def find_run(self, prefix: str) -> tuple[int, str]:
        """The number and the id of the run that is meant by its id or the unique beginning of it.

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
        """The number and the id of the run with the newest events, or of the one that is so many places behind it."""
        query = "SELECT id, run_id FROM runs ORDER BY ended_ms DESC, id DESC LIMIT 1 OFFSET ?"
        found: tuple[int, str] | None = self.index.execute(query, (number - 1,)).fetchone()
        return found

    def has_whole(self, path: Path) -> bool:
        """Whether all that a file holds is kept."""
        row = self.index.execute("SELECT kept FROM files WHERE path = ?", (str(path.resolve()),)).fetchone()
        return row is not None and row[0] == path.stat().st_size

    def events(self, run: int, first: int = 1, last: int | None = None) -> Iterator[Event]:
        """The events of a run (`runs.id`) by their numbers, read block by block; without `last`, to the end."""
        query = """
            SELECT id FROM blocks WHERE run = ? AND last_seq >= ? AND (? IS NULL OR first_seq <= ?) ORDER BY first_seq
        """
        for (block,) in self.index.execute(query, (run, first, last, last)).fetchall():
            for line in self._lines(block):
                event = decode(line)
                if first <= event.seq and (last is None or event.seq <= last):
                    yield event

    def event(self, id: int) -> Event | None:
        """One event by its id (`events.id`, and the rowid of `words`)."""
        place = self.index.execute("SELECT block, line FROM events WHERE id = ?", (id,)).fetchone()
        return None if place is None else decode(self._lines(place[0])[place[1]])

    def _read_block(self, block: int) -> list[bytes]:
        row = self.index.execute("SELECT lines FROM blocks WHERE id = ?", (block,)).fetchone()
        return [] if row is None else unpacked(row[0])

    def blocks(self, first: int, most_bytes: int) -> list[Block]:
        """The blocks from a number on, in the order in which they were made, until they have so many bytes.

        Blocks that were removed are not there.
        """
        query = """
            SELECT blocks.id, runs.run_id, revision, first_seq, blocks.last_seq, lines
            FROM blocks JOIN runs ON runs.id = run WHERE blocks.id >= ? ORDER BY blocks.id
        """
        found: list[Block] = []
        with closing(self.index.execute(query, (first,))) as rows:  # an open one would keep the log from being emptied
            for row in rows:
                found.append(Block(*row))
                most_bytes -= len(found[-1].data)
                if most_bytes <= 0:
                    break
        return found

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything that is read within is of one moment."""
        self.index.execute("BEGIN")
        try:
            yield
        finally:
            self.index.execute("COMMIT")

    @property
    def made_as(self) -> str:
        """The name of the index: one that was made anew has another."""
        return made_as(self.index)

    def last_block(self) -> int:
        """The highest number that a block ever had."""
        last: int = self.index.execute(LAST_BLOCK).fetchone()[0]
        return last

    def close(self) -> None:
        """Let go of the index."""
        self.index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
