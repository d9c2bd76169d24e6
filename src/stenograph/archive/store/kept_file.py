"""A file that the archive keeps: its row in the index, and its bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import msgspec

from stenograph.archive.index.index_writer import IndexWriter
from stenograph.archive.store.pack import About, Place, payload_of
from stenograph.errors import SourceError
from stenograph.formats.base import Report

_STATE = (
    "version",
    "kept",
    "tail",
    "unchecked",
    "next_range",
    "size",
    "mtime_ns",
    "inode",
    "is_present",
    "lines",
    "events",
    "malformed",
    "failed",
    "unknown",
    "unknown_types",
    "wanted_files",
)
_ABOUT = ("root", "path", "format", "run_id", "source", "main", "cwd", "agent_version")
_COLUMNS = ("id", "about", *_STATE, *_ABOUT)
_WRITE = f"""
    INSERT INTO files ({", ".join(_COLUMNS)}) VALUES ({", ".join("?" * len(_COLUMNS))})
    ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[1:])}
"""
_encode = msgspec.json.Encoder().encode


class Queryable(Protocol):
    """A connection, or an index that is being written."""

    def execute(self, query: str, values: tuple[Any, ...], /) -> sqlite3.Cursor:
        """The rows of a query."""
        ...


@dataclass(slots=True)
class KeptFile:
    """One file, by the path that it had when it was last seen."""

    id: int
    about: About
    version: int = 1
    kept: int = 0
    """Bytes kept of the newest version."""
    tail: bytes | None = None
    """The digest of the last range kept."""
    unchecked: int = 0
    """Whole ranges that were not compared with the file on disk since it last changed."""
    next_range: int = 0
    """The range at which comparing goes on."""
    size: int | None = None
    mtime_ns: int | None = None
    inode: int | None = None
    is_present: bool = True
    lines: int = 0
    events: int = 0
    malformed: int = 0
    failed: int = 0
    unknown: int = 0
    unknown_types: str = "{}"
    wanted_files: int = 0

    def is_as(self, size: int, mtime_ns: int, inode: int) -> bool:
        """Whether the file on disk looks as it did when it was last read."""
        return self.size == size and self.mtime_ns == mtime_ns and self.inode == inode

    def count(self, report: Report) -> None:
        """Take over the counts of its parser's report."""
        self.lines, self.events = report.lines, report.events
        self.malformed, self.failed = report.malformed, report.failed
        self.unknown = sum(report.unknown_types.values())
        self.unknown_types = _encode(dict(report.unknown_types)).decode()
        self.wanted_files = len(report.wanted_files)

    def write(self, index: IndexWriter) -> None:
        """Write the row."""
        state = [getattr(self, name) for name in _STATE]
        about = [getattr(self.about, name) for name in _ABOUT]
        index.add(_WRITE, (self.id, _encode(self.about).decode(), *state, *about))


def load_files(connection: sqlite3.Connection) -> Iterator[KeptFile]:
    """Every file in the index."""
    decode = msgspec.json.Decoder(About).decode
    for number, about, *state in connection.execute(f"SELECT id, about, {', '.join(_STATE)} FROM files"):
        yield KeptFile(number, decode(about), *state)


class KeptBytes:
    """Reads back what the packs hold, by the frames in the index."""

    def __init__(self, index: Queryable, folder: Path) -> None:
        self._index = index
        self._folder = folder

    def chunks(self, file: int, version: int) -> Iterator[bytes]:
        """The bytes of one version of a file, in order. Raises `SourceError` where a pack is damaged."""
        for _, chunks in self.batches(file, version):
            yield from chunks

    def sound_chunks(self, file: int, version: int, before: int | None = None) -> Iterator[bytes]:
        """The bytes of one version of a file without damaged frames; with `before`, of batches before that one."""
        for _, chunks in self.batches(file, version, before, is_tolerant=True):
            yield from chunks

    def batches(
        self, file: int, version: int, before: int | None = None, *, is_tolerant: bool = False
    ) -> Iterator[tuple[int, Iterator[bytes]]]:
        """The bytes of one version of a file by the batches in which they came; `is_tolerant` skips damaged frames."""
        query = """
            SELECT batch, length, pack, at, size FROM frames
            WHERE file = ? AND version = ? AND kind = 'bytes' AND (? IS NULL OR batch < ?) ORDER BY start
        """
        rows = self._index.execute(query, (file, version, before, before)).fetchall()
        for batch, group in groupby(rows, key=itemgetter(0)):
            yield batch, self._payloads(list(group), is_tolerant)

    def _payloads(self, rows: list[tuple[int, ...]], is_tolerant: bool) -> Iterator[bytes]:
        for _, length, *place in rows:
            try:
                yield payload_of(self._folder, Place(*place), length)
            except SourceError:
                if not is_tolerant:
                    raise

    def side(self, file: int, name: str) -> bytes | None:
        """The newest kept bytes of a side file; None when it is not kept."""
        query = """
            SELECT length, pack, at, size FROM frames
            WHERE file = ? AND kind = 'side' AND name = ? ORDER BY id DESC LIMIT 1
        """
        row = self._index.execute(query, (file, name)).fetchone()
        return None if row is None else payload_of(self._folder, Place(*row[1:]), row[0])

    def side_names(self, file: int) -> list[str]:
        """The side files that are kept with a file."""
        query = "SELECT DISTINCT name FROM frames WHERE file = ? AND kind = 'side' ORDER BY name"
        return [name for (name,) in self._index.execute(query, (file,))]
