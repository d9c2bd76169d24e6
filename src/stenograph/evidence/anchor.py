"""Checkpoints kept outside the archive, where the owner of the archive alone cannot change them.

An anchor is a file with one checkpoint, or a folder that `steno evidence export` or `checkpoint --to` wrote, with the
tiles of the log beside it: with those, an audit can say which leaf differs, not only that one does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from stenograph.errors import InvalidEvidence, unreadable
from stenograph.evidence.checkpoint import Checkpoint, checkpoint_of
from stenograph.evidence.note import Note, parse_note
from stenograph.evidence.tiles import WIDTH, place_of
from stenograph.merkle import HASH_SIZE

CHECKPOINT = "checkpoint"


class Anchor(Struct, frozen=True):
    """A checkpoint from outside."""

    path: str
    checkpoint: Checkpoint
    note: Note
    folder: Path | None = None
    """The folder with the tiles, if there are any."""

    @property
    def file(self) -> Path:
        """The file with the checkpoint."""
        return _file_of(Path(self.path))

    def leaf_hashes(self) -> Iterator[bytes]:
        """The hashes of the log's leaves at that time; none where there are no tiles."""
        for number, width in self._tiles():
            data = self._read(f"tile/0/{place_of(number, width)}")
            yield from (data[at : at + HASH_SIZE] for at in range(0, len(data), HASH_SIZE))

    def entries(self) -> Iterator[bytes]:
        """The leaves themselves at that time."""
        for number, width in self._tiles():
            data, at = self._read(f"tile/entries/{place_of(number, width)}"), 0
            while at + 2 <= len(data):
                end = at + 2 + int.from_bytes(data[at : at + 2])
                yield data[at + 2 : end]
                at = end

    def _tiles(self) -> Iterator[tuple[int, int]]:
        size = self.checkpoint.size if self.folder is not None else 0
        for number, first in enumerate(range(0, size, WIDTH)):
            yield number, min(WIDTH, size - first)

    def _read(self, place: str) -> bytes:
        assert self.folder is not None
        path = self.folder / place
        try:
            return path.read_bytes()
        except OSError as error:
            raise unreadable(path, error) from error


def load_anchor(path: Path) -> Anchor:
    """A checkpoint file or a folder with one. Raises `SourceError` for any other path."""
    folder, file = path if path.is_dir() else None, _file_of(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise unreadable(file, error) from error
    try:
        note = parse_note(data)
        checkpoint = checkpoint_of(note)
    except InvalidEvidence as error:
        raise InvalidEvidence(f"{file}: {error}", str(file)) from error
    has_tiles = folder is not None and (folder / "tile").is_dir()
    return Anchor(str(path), checkpoint, note, folder if has_tiles else None)


def _file_of(path: Path) -> Path:
    return path / CHECKPOINT if path.is_dir() else path
