"""What a person notes about runs: stars, names, tags, notes, how far they were read. Kept beside transcripts.

`marks.jsonl` is append-only, one change per line, and no rebuild of the index touches it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from stenograph.atomic_file import write_atomically
from stenograph.errors import StoreError

FILE = "marks.jsonl"
_LONGEST = 4000
_MOST_TAGS = 50


class Mark(Struct, frozen=True, kw_only=True):
    """What is noted about one run."""

    star: bool = False
    name: str | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None
    seen: int | None = None
    """The number of the last event that was shown on the screen."""


class MarkChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of the file: what changed in a run's mark."""

    run_id: str
    at: str = ""
    star: bool | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
    tags: tuple[str, ...] | UnsetType = UNSET
    note: str | UnsetType | None = UNSET
    seen: int | UnsetType = UNSET

    @property
    def fits(self) -> bool:
        """Whether its texts are of a length that a person would type."""
        texts = [each for each in (self.name, self.note) if isinstance(each, str)]
        tags = self.tags if isinstance(self.tags, tuple) else ()
        return len(tags) <= _MOST_TAGS and all(len(each) <= _LONGEST for each in (*texts, *tags))


_decode = msgspec.json.Decoder(MarkChange).decode


def read_marks(folder: Path) -> dict[str, Mark]:
    """The marks in the folder of an archive, by run. A line that a crash tore is ignored."""
    try:
        data = (folder / FILE).read_bytes()
    except FileNotFoundError:
        return {}
    marks: dict[str, Mark] = {}
    for line in data.split(b"\n"):
        try:
            change = _decode(line)
        except msgspec.DecodeError:
            continue
        changed = {name: value for name in Mark.__struct_fields__ if (value := getattr(change, name)) is not UNSET}
        before = marks.get(change.run_id, Mark())
        marks[change.run_id] = msgspec.structs.replace(before, **changed)
    return marks


def add_mark(folder: Path, change: MarkChange) -> None:
    """Append a change. Raises `StoreError`."""
    stamped = msgspec.structs.replace(change, at=datetime.now(UTC).isoformat(timespec="milliseconds"))
    path = folder / FILE
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(fd).st_size
            is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            os.write(fd, (b"\n" if is_torn else b"") + msgspec.json.encode(stamped) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; check its permissions", str(path)) from error


def remove_marks(folder: Path, run_ids: Iterable[str]) -> None:
    """Remove everything that is noted about these runs, and lines that cannot be read. Raises `StoreError`."""
    path, removed = folder / FILE, set(run_ids)
    if not path.exists():
        return
    lines = path.read_bytes().split(b"\n")
    kept = [line for line in lines if (run_id := _run_of(line)) is not None and run_id not in removed]
    write_atomically(path, [line + b"\n" for line in kept])


def _run_of(line: bytes) -> str | None:
    try:
        return _decode(line).run_id
    except msgspec.DecodeError:
        return None


def marked_runs(folder: Path, *, starred: bool, tag: str | None) -> Iterable[str]:
    """The marked runs: with `starred` only those with a star, with `tag` only those with that tag."""
    return [
        run_id
        for run_id, mark in read_marks(folder).items()
        if (mark.star or not starred) and (tag is None or tag in mark.tags)
    ]
