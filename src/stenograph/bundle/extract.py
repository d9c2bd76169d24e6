"""Extracts a bundle into a folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from stenograph.atomic_file import make_folder
from stenograph.bundle.container import Container, ZipLimits
from stenograph.bundle.manifest import NAME, read_manifest
from stenograph.bundle.seal import is_sealed
from stenograph.errors import SourceError, StoreError

_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def extract_bundle(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str] = ".",
    *,
    max_bytes: int | None = None,
    changed: bool = False,
) -> Path:
    """Extract a bundle below a folder and return the new folder, which is complete or does not exist.

    Raises `SourceError` for a zip that is unsafe, or larger than `max_bytes` (16 GiB, and 500 times its own size)
    uncompressed; unless `changed`, also for one whose bytes are not those that were sealed, or whose files are not
    those that its manifest names; `StoreError` when the folder exists or cannot be written.
    """
    limits = None if max_bytes is None else ZipLimits(total_bytes=max_bytes, small_bytes=max_bytes)
    place = Path(folder)
    with Container(Path(path), limits) as container:
        if not changed:
            _check(container)
        target = place / container.folder
        try:
            if os.path.lexists(target):
                raise StoreError(f"{target} is there already; remove it or choose another folder", str(target))
            make_folder(place)
            fresh = Path(tempfile.mkdtemp(prefix=".stenograph-extract-", dir=place))
            try:
                for name in container.names:
                    _extract(container, name, fresh / name)
                fresh.rename(target)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
        except (SourceError, StoreError):
            raise
        except OSError as error:
            raise StoreError(
                f"cannot extract into {place}: {error.strerror}; nothing was left there", str(place)
            ) from error
    return target


def _check(container: Container) -> None:
    """Raise `SourceError` unless the seal holds, and the files are those that the manifest names, of the same sizes."""
    if not is_sealed(container.path):
        raise _refusal(container.path, "its bytes are not those that were sealed")
    manifest = read_manifest(container.read(NAME), str(container.path))
    sizes = {file.name: file.size for file in manifest.files} | {NAME: container.size(NAME)}
    if wrong := sorted(sizes.keys() ^ set(container.names)):
        raise _refusal(container.path, f"its manifest and its files differ by {len(wrong):,}, such as {wrong[0]!r}")
    for name in container.names:
        if container.size(name) != sizes[name]:
            raise _refusal(container.path, f"its {name!r} is not as long as the manifest says")


def _refusal(path: str | os.PathLike[str], why: str) -> SourceError:
    text = os.fspath(path)
    advice = "steno bundle verify says more, and --changed extracts it all the same"
    return SourceError(f"{text} is not as it was made: {why}; {advice}", text)


def _extract(container: Container, name: str, target: Path) -> None:
    make_folder(target.parent)
    with os.fdopen(os.open(target, _FILE, 0o600), "wb") as out:
        for chunk in container.chunks(name):
            out.write(chunk)
