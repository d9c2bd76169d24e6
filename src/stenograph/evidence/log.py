"""The log of an archive: its frames in the order of the packs, each a leaf that is the frame's header, byte for byte.

A header has a SHA-256 of the frame's content (with a salt in newer packs), so leaves prove the content, too, and
erasing a payload on purpose leaves the leaf and every root unchanged. The log is not stored: it is computed from packs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stenograph.archive.store.pack import Damage, Frame, packs_in, scan_frames
from stenograph.evidence.checkpoint import Checkpoint
from stenograph.merkle import MerkleTree, leaf_hash

ORIGIN = "stenograph.local/"


def origin_of(archive_id: str) -> str:
    """The name of a log: two archives of one machine are two logs."""
    return ORIGIN + archive_id


class Log:
    """The frames of an archive with the tree over them."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds the packs."""
        self.frames: list[Frame] = []
        self.damages: list[Damage] = []
        """Bytes between frames that are not a frame."""
        self.tree = MerkleTree()
        for found in _scanned(folder):
            if isinstance(found, Damage):
                self.damages.append(found)
            else:
                self.frames.append(found)
                self.tree.append(leaf_hash(found.text))

    def checkpoint(self, origin: str) -> Checkpoint:
        """The present state of the log."""
        return Checkpoint(origin, self.tree.size, self.tree.root())


def _scanned(folder: Path) -> Iterator[Frame | Damage]:
    for number in packs_in(folder):
        yield from scan_frames(folder, number)
