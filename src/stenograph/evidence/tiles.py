"""A log as static files (C2SP tlog-tiles): any web server can serve them to an auditor.

A tile has up to 256 hashes of one level of the tree, in steps of eight levels; an entry bundle has up to 256 leaves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from stenograph.errors import StoreError
from stenograph.merkle import MerkleTree

WIDTH = 256
_LEVELS_A_TILE = 8


def write_tiles(folder: Path, tree: MerkleTree, entries: Sequence[bytes], checkpoint: bytes) -> int:
    """Write tiles, entry bundles and the checkpoint below `folder`, the checkpoint last; returns the number of files.

    A tile never changes, so one that is there is not written again.
    """
    count = 0
    for path, data in tiles_of(tree, entries):
        if not _is_there(folder / path, len(data)):
            write_file(folder / path, data)
            count += 1
    write_file(folder / "checkpoint", checkpoint)
    return count + 1


def _is_there(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def tiles_of(tree: MerkleTree, entries: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Every tile and entry bundle with its path."""
    for level in range(0, len(tree.levels), _LEVELS_A_TILE):
        hashes = tree.levels[level]
        for number, first in enumerate(range(0, len(hashes), WIDTH)):
            piece = hashes[first : first + WIDTH]
            yield f"tile/{level // _LEVELS_A_TILE}/{place_of(number, len(piece))}", b"".join(piece)
    for number, first in enumerate(range(0, len(entries), WIDTH)):
        bundle = entries[first : first + WIDTH]
        data = b"".join(len(entry).to_bytes(2) + entry for entry in bundle)
        yield f"tile/entries/{place_of(number, len(bundle))}", data


def place_of(number: int, width: int) -> str:
    """The path of a tile: three digits a folder, all but the last with an `x`; the width where it is not full."""
    parts = [f"{number % 1000:03}"]
    while number >= 1000:
        number //= 1000
        parts.append(f"x{number % 1000:03}")
    return "/".join(reversed(parts)) + ("" if width == WIDTH else f".p/{width}")


def write_file(path: Path, data: bytes) -> None:
    """Write a file that is whole on disk before it replaces an older one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)  # noqa: PTH105  # a reader sees the old file or the new one
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check the folder", str(path)) from error
