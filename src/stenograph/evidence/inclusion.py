"""Files that prove that a leaf is in a log: the C2SP form `tlog-proof`."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode

from msgspec import Struct

from stenograph.errors import InvalidEvidence
from stenograph.evidence.checkpoint import Checkpoint, checkpoint_of
from stenograph.evidence.note import Note, parse_note
from stenograph.merkle import HASH_SIZE, is_included, leaf_hash

_HEAD = "c2sp.org/tlog-proof@v1"


class InclusionProof(Struct, frozen=True):
    """Where a leaf is in a log, the hashes that show it, and the checkpoint they lead to."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: Note

    def encode(self) -> bytes:
        """The bytes of the proof file."""
        hashes = "".join(f"{b64encode(each).decode()}\n" for each in self.hashes)
        return f"{_HEAD}\nindex {self.index}\n{hashes}\n".encode() + self.checkpoint.encode()

    def proves(self, entry: bytes) -> Checkpoint | None:
        """The checkpoint whose log contains the entry by this proof; None where the proof does not show it.

        Whether the checkpoint is signed by a key that one trusts is for `VerifierKey.check` to say.
        """
        checkpoint = checkpoint_of(self.checkpoint)
        is_in = is_included(leaf_hash(entry), self.index, checkpoint.size, self.hashes, checkpoint.root)
        return checkpoint if is_in else None


def parse_inclusion_proof(data: bytes) -> InclusionProof:
    """Read a proof file. Raises `InvalidEvidence` for other bytes."""
    head, _, note = data.partition(b"\n\n")
    try:
        first, *lines = head.decode().split("\n")
    except UnicodeDecodeError:
        raise InvalidEvidence("not a proof: it is not UTF-8") from None
    if lines and lines[0].startswith("extra "):
        lines.pop(0)
    index = lines.pop(0).removeprefix("index ") if lines else ""
    if first != _HEAD or not (index.isascii() and index.isdecimal()) or len(index) > 18:
        raise InvalidEvidence(f"not a proof: it must begin with {_HEAD} and an index")
    return InclusionProof(int(index), tuple(map(_hash, lines)), parse_note(note))


def _hash(line: str) -> bytes:
    try:
        found = b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != HASH_SIZE:
        raise InvalidEvidence(f"not a proof: {line[:60]!r} is not a hash")
    return found
