"""Writing a file so that it is there whole or not at all, and making folders that only their owner can read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from stenograph.errors import StenographError, StoreError


def write_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the pieces to a file that only its owner can read; an old file stays until the new one is complete.

    A device or a pipe is written directly. Raises `StoreError` when it cannot be written; then no part of it is left.
    """
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder; name a file in it", str(path))
        if path.exists() and not path.is_file():  # a device or a pipe, such as /dev/stdout, is not replaced
            with path.open("wb") as place:
                for piece in pieces:
                    place.write(piece)
            return
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:80]}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for piece in pieces:
                    file.write(piece)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except StenographError:
        raise
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check the folder", str(path)) from error


def make_folder(path: Path) -> None:
    """Make a folder, and missing ones above it, readable only by their owner; an existing one is not changed.

    Raises `OSError`.
    """
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
