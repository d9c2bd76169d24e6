"""Retention: how many bundles a folder keeps. Only bundles that we named and sealed are ever removed."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from stenograph.bundle.seal import has_seal
from stenograph.errors import StoreError

CACHE_SUFFIX = ".sqlite"
"""What `steno query` puts beside a bundle; it is removed with it."""
_OURS = re.compile(r"stenograph-[0-9a-z]+-\d{8}T\d{6}Z-[0-9a-f]{8}\.zip")


class Retention(Struct, frozen=True, kw_only=True):
    """What a folder keeps, the newest first; None means unlimited. The bundle that was just made always stays."""

    max_bundles: int | None = None
    max_age: timedelta | None = None
    max_total_bytes: int | None = None


def apply_retention(
    folder: Path, retention: Retention, *, keep: Path | None = None, now: datetime | None = None
) -> list[Path]:
    """Remove the bundles beyond a limit, and return them; raises `StoreError` when one cannot be removed."""
    moment = (now or datetime.now(UTC)).timestamp()
    bundles = sorted(_bundles(folder), key=lambda each: (each[0] == keep, each[1], each[0].name), reverse=True)
    removed: list[Path] = []
    total = 0
    for number, (path, made, size) in enumerate(bundles):
        total += size
        is_beyond = (
            (retention.max_bundles is not None and number >= retention.max_bundles)
            or (retention.max_age is not None and moment - made > retention.max_age.total_seconds())
            or (retention.max_total_bytes is not None and total > retention.max_total_bytes)
        )
        if is_beyond and path != keep:
            _remove(path)
            removed.append(path)
    return removed


def _bundles(folder: Path) -> list[tuple[Path, float, int]]:
    """Our bundles in the folder, with the times they were made and their sizes."""
    found = []
    for path in folder.iterdir():
        if not _OURS.fullmatch(path.name) or path.is_symlink() or not path.is_file() or not has_seal(path):
            continue
        with suppress(FileNotFoundError):  # another process may remove old bundles, too
            status = path.stat()
            found.append((path, status.st_mtime, status.st_size))
    return found


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        path.with_name(path.name + CACHE_SUFFIX).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot remove the old bundle {path}: {error.strerror}; remove it by hand", str(path)
        ) from error
