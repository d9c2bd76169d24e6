"""Checkpoints: which log, how many leaves, which root. A C2SP checkpoint is a signed note of three lines."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode

from msgspec import Struct

from stenograph.errors import InvalidEvidence
from stenograph.evidence.note import Note
from stenograph.merkle import HASH_SIZE


class Checkpoint(Struct, frozen=True):
    """The state of a log."""

    origin: str
    """Names the log; contains the archive's id, since two archives are two logs."""
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{b64encode(self.root).decode()}\n"

    def note(self) -> Note:
        """A note with this checkpoint, without a signature."""
        return Note(self.text)


def checkpoint_of(note: Note) -> Checkpoint:
    """The checkpoint in a note. Raises `InvalidEvidence` for a note that is not a checkpoint."""
    lines = note.text.split("\n")
    if len(lines) < 4 or not lines[0]:
        raise InvalidEvidence("not a checkpoint: it must have origin, size and root, a line each")
    origin, size, encoded = lines[:3]
    if not (size.isascii() and size.isdecimal()) or (size != "0" and size.startswith("0")) or len(size) > 18:
        raise InvalidEvidence(f"not a checkpoint: {size[:40]!r} is not a size")
    try:
        root = b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        root = b""
    if len(root) != HASH_SIZE:
        raise InvalidEvidence("not a checkpoint: its root is not a SHA-256")
    return Checkpoint(origin, int(size), root)
