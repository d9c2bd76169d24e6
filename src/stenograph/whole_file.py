"""A file that is there whole or not at all, and a folder for its owner alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from stenograph.errors import StenographError, StoreError


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the pieces to a file of that name, readable by its owner alone; what stood there stays until the end.

    A device or a pipe is written to as it is. Raises `StoreError` when it cannot be written; then nothing is left
    behind.
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
    """Make a folder, and those above it that are missing, for its owner alone; one that is there stays as it is.

    Raises `OSError`.
    """
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
