"""Sends our own journals to a store: whole lines, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stenograph.archive.store.home import Home
from stenograph.fleet.store.keys import journal_folder, journals_folder, piece_key
from stenograph.fleet.store.objects import Entry, Objects
from stenograph.fleet.store.pieces import Forked, missing, pieces_in

PIECE_BYTES = 1 << 22
_COMPARED = 4096


class SentJournal:
    """One journal: what the store has and lacks of it."""

    def __init__(self, path: Path, folder: str, entries: list[Entry]) -> None:
        self._path = path
        self._folder = folder
        self._pieces = pieces_in(entries)
        self._size = _whole_lines(path)

    def check(self, store: Objects) -> None:
        """Raise `Forked` if the store has other lines than we have, by the end of its last piece."""
        if not self._pieces:
            return
        start, end = self._pieces[-1]
        if end > self._size:
            raise Forked(f"the journal {self._path.name} is longer there")
        at = max(start, end - _COMPARED)
        if store.get(piece_key(self._folder, start), at - start, end - at) != self._read(at, end):
            raise Forked(f"the journal {self._path.name} has other lines before byte {end}")

    def behind(self) -> int:
        """How many bytes the store lacks."""
        return sum(end - start for start, end in missing(self._pieces, self._size))

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """The keys and bytes of what the store lacks."""
        lacks = list(missing(self._pieces, self._size))
        if lacks:
            with self._path.open("rb") as file:  # what is sent must not be lost here
                os.fsync(file.fileno())
        for start, end in lacks:
            while start < end:
                data = self._whole_lines(start, end)
                yield piece_key(self._folder, start), data
                start += len(data)

    def _whole_lines(self, start: int, end: int) -> bytes:
        """Lines from a place on: about a piece, or one line if that is longer."""
        length = PIECE_BYTES
        while start + length < end:
            data = self._read(start, start + length)
            if (newline := data.rfind(b"\n")) >= 0:
                return data[: newline + 1]
            length *= 2
        return self._read(start, end)

    def _read(self, start: int, end: int) -> bytes:
        with self._path.open("rb") as file:
            return os.pread(file.fileno(), end - start, start)


def sent_journals(home: Home, archive: str, store: Objects) -> list[SentJournal]:
    """Every journal of an archive. Raises `Forked`."""
    by_run: dict[str, list[Entry]] = {}
    for entry in store.entries(journals_folder(archive)):
        by_run.setdefault(entry.key.split("/")[-2], []).append(entry)
    journals = [
        SentJournal(path, journal_folder(archive, path.stem), by_run.get(path.stem, []))
        for path in sorted(home.journals.glob("*.jsonl"))
    ]
    for journal in journals:
        journal.check(store)
    return journals


def _whole_lines(path: Path) -> int:
    """The length of a journal up to its last newline."""
    with path.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        while at:
            start = max(0, at - (1 << 16))
            found = os.pread(file.fileno(), at - start, start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            at = start
    return 0
