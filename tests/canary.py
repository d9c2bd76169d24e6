"""Whether a word is anywhere in an archive: in raw bytes, in whatever zstd can unpack, among the words of the index."""

from __future__ import annotations

import io
from pathlib import Path

import zstandard

from stenograph.archive.index.schema import open_index

_ZSTD = b"\x28\xb5\x2f\xfd"


def places_of(archive: Path, word: str) -> list[str]:
    """The files of an archive in which a word is, and `words` where full text knows it."""
    found = [path.name for path in sorted(archive.rglob("*")) if path.is_file() and _holds(path, word.encode())]
    index = open_index(archive, readonly=True)
    try:
        index.execute("CREATE VIRTUAL TABLE temp.canary USING fts5vocab(main, words, row)")
        if index.execute("SELECT count(*) FROM canary WHERE term = ?", (word.lower(),)).fetchone()[0]:
            found.append("words")
    finally:
        index.close()
    return found


def _holds(path: Path, word: bytes) -> bool:
    data = path.read_bytes()
    if word in data:
        return True
    at = data.find(_ZSTD)
    while at >= 0:
        if word in _unpacked(data[at:]):
            return True
        at = data.find(_ZSTD, at + 1)
    return False


def _unpacked(data: bytes) -> bytes:
    """What zstd can unpack from here on, also where the end is torn."""
    out = b""
    try:
        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data))
        while piece := reader.read(1 << 16):
            out += piece
    except zstandard.ZstdError:
        pass
    return out
