"""The agents' own files, given back byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from stenograph.archive.archive import Archive
from stenograph.archive.kept_file import KeptBytes
from stenograph.errors import RunNotFound, StoreError

SIDE_FILES = "side-files"
"""The folder for outputs that an agent parked in files of their own."""
_SIDECAR = ".meta.json"


def give_back(archive: Archive, run_id: str, folder: Path, version: int | None = None) -> list[Path]:
    """Write the files of a run below `folder`, laid out as the agent had them; the paths of all that was written.

    Without `version`, the newest of each. Raises `RunNotFound` for a version that no file of the run has, and
    `StoreError` rather than write over a file that is there.
    """
    query = "SELECT id, root, path, version FROM files WHERE run_id = ? ORDER BY id"
    kept = KeptBytes(archive.index, archive.home.kept)
    written = []
    for number, root, path, newest in archive.index.execute(query, (run_id,)).fetchall():
        if version is not None and not 1 <= version <= newest:
            continue
        place = folder / _below(root, path)
        _write(place, kept.chunks(number, version or newest))
        written.append(place)
        for name in kept.side_names(number):
            base = PurePosixPath(name.replace("\\", "/")).name or SIDE_FILES
            beside = place.parent / base if base.endswith(_SIDECAR) else place.parent / SIDE_FILES / base
            _write(beside, [kept.side(number, name) or b""])
            written.append(beside)
    if not written:
        wanted = "" if version is None else f" in version {version}"
        raise RunNotFound(f"the archive keeps no file of the run {run_id}{wanted}; steno ls lists the runs", run_id)
    return written


def _below(root: str, path: str) -> Path:
    """Where a file was below its root; never anything that leads out of a folder."""
    inside = path.removeprefix(root) if path.startswith(root) else PurePosixPath(path).name
    parts = [part for part in PurePosixPath(inside.lstrip("/")).parts if part not in ("..", "/")]
    return Path(*parts) if parts else Path("transcript")


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.writelines(chunks)
    except FileExistsError as error:
        raise StoreError(f"{path} is there already; give an empty folder", str(path)) from error
    except OSError as error:
        if isinstance(error, StoreError) or not error.strerror:
            raise
        raise StoreError(f"cannot write {path}: {error.strerror}; check the folder", str(path)) from error
