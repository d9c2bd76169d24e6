"""Restoring the agents' own files, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import msgspec

from stenograph.archive.reader import IndexReader
from stenograph.archive.store.kept_file import KeptBytes
from stenograph.archive.store.pack import About
from stenograph.atomic_file import make_folder
from stenograph.errors import RunNotFound, StoreError
from stenograph.formats.layout import is_name
from stenograph.sources.layouts import layout_of

SIDE_FILES = "side-files"
"""The folder for parked outputs whose original place is not known."""


def restore_files(archive: IndexReader, run_id: str, folder: Path, version: int | None = None) -> list[Path]:
    """Write the files of a run below `folder`, laid out as the agent had them; returns the paths of all files.

    Without `version`, the newest of each. Raises `RunNotFound` for a version that no file of the run has, and
    `StoreError` rather than write over a file that is there.
    """
    query = """
        SELECT file.id, file.version, file.about, coalesce(main.path, file.path)
        FROM files AS file LEFT JOIN files AS main ON main.id = file.main WHERE file.run_id = ? ORDER BY file.id
    """
    kept = KeptBytes(archive.index, archive.home.kept)
    out = _Folder(folder)
    for number, newest, about_json, main in archive.index.execute(query, (run_id,)).fetchall():
        if version is not None and not 1 <= version <= newest:
            continue
        about = msgspec.json.decode(about_json, type=About)
        out.write(_below(about.root, about.path), kept.chunks(number, version or newest))
        for name in kept.side_names(number):
            out.write_once(_side_place(about, Path(main), name), kept.side(number, name) or b"")
    if not out.written:
        wanted = "" if version is None else f" in version {version}"
        raise RunNotFound(f"the archive keeps no file of the run {run_id}{wanted}; steno ls lists the runs", run_id)
    return out.written


def _side_place(about: About, main: Path, name: str) -> Path:
    """Where a sidecar or a parked output was below its root."""
    files = layout_of(about.format)
    sidecar = files.sidecar_of(Path(about.path))
    if sidecar is not None and name == sidecar.name:
        return _below(about.root, str(sidecar))
    path = files.side_path(main, about.native_id, name)
    if path is not None:
        return _below(about.root, str(path))
    base = PurePosixPath(name.replace("\\", "/")).name
    return _below(about.root, about.path).parent / SIDE_FILES / (base if is_name(base) else SIDE_FILES)


def _below(root: str, path: str) -> Path:
    """Where a file was below its root; never a path that leads out of a folder."""
    inside = path.removeprefix(root) if path.startswith(root) else PurePosixPath(path).name
    parts = [part for part in PurePosixPath(inside.lstrip("/")).parts if part not in ("..", "/")]
    return Path(*parts) if parts else Path("transcript")


class _Folder:
    """The folder to restore to; no file in it is overwritten."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.written: list[Path] = []

    def write(self, place: Path, chunks: Iterable[bytes]) -> None:
        """Write a file; another one at the same place gets a number."""
        path, number = self._path / place, 1
        while path in self.written:
            number += 1
            path = self._path / place.with_name(f"{place.name}.{number}")
        _write(path, chunks)
        self.written.append(path)

    def write_once(self, place: Path, data: bytes) -> None:
        """Write a file to which several others may refer, unless it is there with the same content."""
        path = self._path / place
        if path not in self.written or path.read_bytes() != data:
            self.write(place, [data])


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    try:
        make_folder(path.parent)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.writelines(chunks)
    except FileExistsError as error:
        raise StoreError(f"{path} is there already; give an empty folder", str(path)) from error
    except OSError as error:
        if isinstance(error, StoreError) or not error.strerror:
            raise
        raise StoreError(f"cannot write {path}: {error.strerror}; check the folder", str(path)) from error
