"""Sends packs to a store: whole frames, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stenograph.archive.store.pack import Damage, pack_path, packs_in, scan_frames
from stenograph.fleet.store.keys import pack_folder, packs_folder, piece_key
from stenograph.fleet.store.objects import Entry, Objects
from stenograph.fleet.store.pieces import Forked, missing, pieces_in

PIECE_BYTES = 1 << 22
"""A piece is closed when it has this many bytes."""


class SentPack:
    """One pack: what the store has and lacks of it."""

    def __init__(self, kept: Path, pack: int, folder: str, entries: list[Entry]) -> None:
        self._kept = kept
        self._pack = pack
        self._folder = folder
        self._pieces = pieces_in(entries)

    def check(self, store: Objects) -> None:
        """Raise `Forked` if the store has something else than we have.

        The header of its last frame is compared: headers hold random numbers, and stay when content is removed.
        """
        if not self._pieces:
            return
        start, end = self._pieces[-1]
        header: tuple[int, int] | None = None
        at = start
        for found in scan_frames(self._kept, self._pack, start) if start < self._size() else ():
            if at >= end:
                break
            if isinstance(found, Damage):
                at = found.end
            else:
                header, at = (at, found.place.at), found.place.end
        if at != end or end > self._size():
            raise Forked(f"pack {self._pack:06} has other frames at byte {start}")
        if header is not None:
            theirs = store.get(piece_key(self._folder, start), header[0] - start, header[1] - header[0])
            if theirs != self._read(*header):
                raise Forked(f"pack {self._pack:06} has another frame at byte {header[0]}")

    def behind(self) -> int:
        """How many bytes the store lacks; of a frame that is being written, some may be counted too early."""
        return sum(end - start for start, end in missing(self._pieces, self._size()))

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """The keys and bytes of what the store lacks; of a torn frame at the end, nothing."""
        for start, end in missing(self._pieces, self._size()):
            for first, last in self._whole_frames(start, end):
                yield piece_key(self._folder, first), self._read(first, last)

    def _whole_frames(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Ranges of whole frames; damage is sent with the frame after it, since it may be a half-written frame."""
        first = at = start
        for found in scan_frames(self._kept, self._pack, start):
            if isinstance(found, Damage):
                continue
            if found.place.end > end:
                break
            at = found.place.end
            if at - first >= PIECE_BYTES:
                yield first, at
                first = at
        if at > first:
            yield first, at

    def _path(self) -> Path:
        return pack_path(self._kept, self._pack)

    def _size(self) -> int:
        try:
            return self._path().stat().st_size
        except FileNotFoundError:
            return 0

    def _read(self, start: int, end: int) -> bytes:
        with self._path().open("rb") as file:
            return os.pread(file.fileno(), end - start, start)


def sync_packs(kept: Path) -> None:
    """Wait until the packs are on the disk itself.

    What is sent must not be lost here, and events are made from packs: a machine that lost some of them after a power
    failure would look like another one.
    """
    for pack in packs_in(kept)[-2:]:  # those before were synced when the next one was begun
        with pack_path(kept, pack).open("rb") as file:
            os.fsync(file.fileno())


def sent_packs(kept: Path, archive: str, store: Objects) -> list[SentPack]:
    """Every pack of an archive, and every one that the store has. Raises `Forked`."""
    by_pack: dict[int, list[Entry]] = {number: [] for number in packs_in(kept)}
    for entry in store.entries(packs_folder(archive)):
        name = entry.key.split("/")[-2]
        by_pack.setdefault(int(name) if name.isdecimal() else -1, []).append(entry)
    by_pack.pop(-1, None)
    packs = [SentPack(kept, number, pack_folder(archive, number), by_pack[number]) for number in sorted(by_pack)]
    for pack in packs:
        pack.check(store)
    return packs
