"""Erases forgotten runs from a store, for a role that may overwrite and delete objects.

Theory of operation. Tombstones name the runs. In pieces of packs, the content of the runs' frames is overwritten with
zeros, as `steno forget` does in the packs of a machine: no piece changes its length, so a pack that is brought back
equals that of a machine that removed the runs. Event segments are rewritten without the runs' blocks; their beginnings
and ends stay, so senders and loaders continue as before. Journals are deleted. `erased.json` records how far that is
done for each run, so that the next time only new objects are checked; every step can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from stenograph.archive.index.chunk import packed
from stenograph.archive.store.pack import Damage, frames_in
from stenograph.fleet.store.keys import (
    Generation,
    erased_key,
    events_folder,
    journal_folder,
    packs_folder,
    start_of,
)
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.segment import packed_segment, read_segment
from stenograph.fleet.store.sent_events import generations
from stenograph.fleet.store.tombstones import forgotten_runs


class _Done(Struct, kw_only=True):
    """How far a run is erased."""

    files: set[int] = msgspec.field(default_factory=set)
    """The numbers of its files in the packs."""
    upto: dict[str, int] = msgspec.field(default_factory=dict)
    """Where the last checked piece begins, by folder."""


class Erased(Struct, kw_only=True):
    """What was done."""

    archive: str
    runs: tuple[str, ...] = ()
    """All forgotten runs."""
    pieces: int = 0
    """Objects of packs that were rewritten."""
    segments: int = 0
    """Objects of events that were rewritten."""
    journals: int = 0
    """Objects of journals that were deleted."""


def erase_forgotten(store: Objects, archive: str) -> Erased:
    """Erase what the tombstones of an archive name from its packs, journals and event segments.

    Rows that were loaded into a table are not affected. Raises `StoreError` without permission to delete.
    """
    runs = sorted(forgotten_runs(store, archive))
    erased = Erased(archive=archive, runs=tuple(runs))
    if runs:
        _Erasing(store, archive, runs, erased).run()
    return erased


def delete_generation(store: Objects, archive: str, generation: Generation) -> int:
    """Delete the event segments of a generation that a newer one replaced; returns how many. Never the newest one."""
    if generation == generations(store, archive)[-1]:
        raise ValueError(f"{generation.name} is the newest generation of {archive}")
    keys = [entry.key for entry in store.entries(events_folder(archive, generation))]
    store.delete(keys)
    return len(keys)


_Erase = Callable[[str, set[str]], None]


class _Erasing:
    def __init__(self, store: Objects, archive: str, runs: Iterable[str], erased: Erased) -> None:
        self._store = store
        self._archive = archive
        self._erased = erased
        before = store.find(erased_key(archive))
        known = msgspec.json.decode(before, type=dict[str, _Done]) if before else {}
        self._done = {run: known.get(run) or _Done() for run in runs}

    def run(self) -> None:
        for entry in self._store.entries(packs_folder(self._archive)):
            self._look(entry.key, self._erase_piece)
        for generation in generations(self._store, self._archive):
            for entry in self._store.entries(events_folder(self._archive, generation)):
                self._look(entry.key, self._erase_segment)
        for run_id in self._done:
            keys = [entry.key for entry in self._store.entries(journal_folder(self._archive, run_id))]
            self._store.delete(keys)
            self._erased.journals += len(keys)
        self._store.replace(erased_key(self._archive), msgspec.json.encode(self._done))

    def _look(self, key: str, erase: _Erase) -> None:
        """Erase from one object the runs for which it was not checked yet."""
        folder, start = key.rpartition("/")[0], start_of(key)
        if start is None:
            return
        new = {run_id for run_id, done in self._done.items() if done.upto.get(folder, -1) < start}
        if new:
            erase(key, new)
            for run_id in new:
                self._done[run_id].upto[folder] = start

    def _erase_piece(self, key: str, runs: set[str]) -> None:
        data = self._store.get(key)
        erased = bytearray(data)
        for frame in frames_in(data):
            if isinstance(frame, Damage):
                continue
            header, place = frame.header, frame.place
            if header.about is not None and header.about.run_id in self._done:
                self._done[header.about.run_id].files.add(header.file)
            if any(header.file in self._done[run_id].files for run_id in runs):
                erased[place.at : place.end] = bytes(place.size)
        if erased != data:
            self._store.replace(key, bytes(erased))
            self._erased.pieces += 1

    def _erase_segment(self, key: str, runs: set[str]) -> None:
        segment = read_segment(self._store.get(key), key)
        left = [(block, lines) for block, lines in segment.by_block() if block.run_id not in runs]
        rows = tuple(row for row in segment.header.runs if row["run_id"] not in runs)
        if len(left) < len(segment.header.blocks) or len(rows) < len(segment.header.runs):
            header = replace(segment.header, blocks=tuple(block for block, _ in left), runs=rows)
            self._store.replace(key, packed_segment(header, [packed(lines) for _, lines in left]))
            self._erased.segments += 1
