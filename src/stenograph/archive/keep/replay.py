"""Indexing what the packs hold and the index lacks: after a crash a little, for a new index everything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import groupby
from pathlib import Path

from stenograph.archive.keep.batches import Batches, Found
from stenograph.archive.keep.opened_file import OpenedFile
from stenograph.archive.store.pack import Damage, content_of, cut_tail, pack_path, packs_in, scan
from stenograph.errors import SourceError
from stenograph.model.event import Event

Progress = Callable[[int], None]


class Replay:
    """One pass over the frames that are not indexed."""

    def __init__(
        self, batches: Batches, folder: Path, progress: Progress, removed: Collection[str] = frozenset()
    ) -> None:
        """`folder` holds the packs; `progress` is called with the number of bytes of packs that were indexed.

        `removed` are runs that were removed on purpose, although the packs may not say so yet.
        """
        self._batches = batches
        self._folder = folder
        self._progress = progress
        self._removed = removed
        self._forgotten: set[int] = set()
        """Files whose content was removed on purpose: their frames are there, and nothing is indexed of them."""
        self.damaged = 0
        """Bytes of the packs that are not frames, or damaged."""

    def run(self) -> None:
        """Index every frame that the index lacks; a torn tail is set aside."""
        self._forgotten = _forgotten_files(self._folder, self._batches.pack, self._batches.pack_end)
        for number, frames in groupby(self._unindexed(), key=lambda found: found[0].batch):
            self._batches.begin(number)
            self._batch(list(frames))
        self._batches.commit()

    def _unindexed(self) -> Iterator[Found]:
        last, end = self._batches.pack, self._batches.pack_end
        numbers = [number for number in packs_in(self._folder) if number >= last]
        for number in numbers:
            for found in scan(self._folder, number, end if number == last else 0):
                if not isinstance(found, Damage):
                    yield found
                    continue
                self.damaged += found.end - found.start
                is_tail = number == numbers[-1] and found.end == pack_path(self._folder, number).stat().st_size
                if is_tail:
                    cut_tail(self._folder, found)

    def _batch(self, frames: list[Found]) -> None:
        by_file: dict[int, list[Found]] = {}
        for found in frames:
            by_file.setdefault(found[0].file, []).append(found)
            self._meet(found)
        opened: list[OpenedFile] = []
        series: list[Iterator[Event]] = []
        for number in sorted(by_file.keys() - self._forgotten):
            pieces = [found for found in by_file[number] if found[0].kind == "bytes"]
            if pieces:
                file = self._batches.files.by_id[number]
                each = self._batches.open(file, is_begun=pieces[0][0].start == 0)
                opened.append(each)
                series.append(self._events(each, pieces))
        self._batches.add(opened, series)

    def _meet(self, found: Found) -> None:
        """Note a frame, and the file or version that it begins."""
        header, place = found
        if header.about is not None and header.about.run_id in self._removed:
            self._forgotten.add(header.file)
        if header.file in self._forgotten:
            self._batches.files.pass_over(header.file)
            self._batches.note(header, place)
            return
        about, catalog = header.about, self._batches.files
        file = catalog.by_id.get(header.file)
        if about is not None and file is None:
            file = self._batches.add_file(about, header.file)
        elif about is not None and file is not None:
            catalog.rename(file, about)
        if file is not None and header.kind == "bytes" and header.start == 0:
            file.version, file.kept = header.version, 0
        self._batches.note(header, place)

    def _events(self, opened: OpenedFile, frames: list[Found]) -> Iterator[Event]:
        for header, place in frames:
            try:
                _, data = content_of(self._folder, place, header)
            except SourceError:
                self.damaged += header.length
                opened.file.kept += header.length  # so the file differs from what is kept, and a new version begins
                continue
            self._progress(place.size)
            yield from opened.feed(data)
        yield from opened.settle()


def _forgotten_files(folder: Path, pack: int, end: int) -> set[int]:
    """The files that were removed, according to the frames from a place on: their content cannot be indexed."""
    found: set[int] = set()
    for number in packs_in(folder):
        if number < pack:
            continue
        for each in scan(folder, number, end if number == pack else 0):
            if not isinstance(each, Damage) and each[0].kind == "forgotten":
                found.add(each[0].file)
    return found
