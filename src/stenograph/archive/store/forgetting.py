"""Removing runs on purpose, so that nothing of their content is left.

Theory of operation. What is to be removed is first written to `forget.json`; from then on it will be removed: after a
crash, the next process that opens the archive for writing finishes it. Every step can be done twice: the runs enter the
list of forgotten runs, which a sync reads; the packs get a frame that says which leaves are removed; the runs leave the
index in one transaction, so a reader sees a run whole or not at all; then the payloads are erased from the packs, and
journals, torn pieces and, where asked for, the agents' own files are deleted. `forget.json` is deleted last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph.archive.index.schema import PATIENCE
from stenograph.archive.keep.old_run import OldRun
from stenograph.archive.keep.walk import received_in
from stenograph.archive.marks import remove_marks
from stenograph.archive.store.forgotten import ForgottenRun, add_forgotten
from stenograph.archive.store.pack import MAGIC, Damage, Place, erase, is_erased, packs_in, scan
from stenograph.archive.writer import Store
from stenograph.atomic_file import write_atomically
from stenograph.disk import sync_path
from stenograph.errors import SourceError, StoreError
from stenograph.sources.layouts import sidecar_suffixes

_LEAVES_A_FRAME = 4000
"""A leaf of the log has at most 65,535 bytes."""


class Removal(Struct, frozen=True, kw_only=True):
    """What is to be removed."""

    runs: tuple[ForgottenRun, ...]
    files: tuple[int, ...]
    """Their numbers in the packs."""
    delete: tuple[str, ...] = ()
    """Files outside the packs: journals of ours, and the agents' own where that was asked for."""


def forget(store: Store, removal: Removal) -> None:
    """Remove runs for good."""
    path = store.home.unfinished
    write_atomically(path, [msgspec.json.encode(removal)])
    sync_path(path)
    sync_path(path.parent)
    finish(store)


def finish(store: Store) -> None:
    """Do what `forget.json` says, or what is left of it."""
    home = store.home
    try:
        removal = msgspec.json.decode(home.unfinished.read_bytes(), type=Removal)
    except msgspec.MsgspecError as error:
        path = home.unfinished
        raise SourceError(f"cannot read {path}: {error}; delete it, and forget again", str(path)) from error
    add_forgotten(home.forgotten, removal.runs)
    places = _mark(store, removal)
    _leave_index(store, removal)
    store.packs.close()
    for number in packs_in(home.kept):
        left = [place for place in places if place.pack == number]
        if not all(is_erased(home.kept, place) for place in left):
            erase(home.kept, number, left)
    _delete_pieces(home.kept, set(removal.files))
    remove_marks(home.path, [run.run_id for run in removal.runs])
    for name in removal.delete:
        _delete(Path(name))
    home.unfinished.unlink()
    sync_path(home.path)


def _mark(store: Store, removal: Removal) -> list[Place]:
    """Append frames which say which leaves are removed, unless they exist; returns where the content is."""
    files, marked = set(removal.files), set[int]()
    leaves: dict[int, list[int]] = {}
    places: list[Place] = []
    number = 0
    for pack in packs_in(store.home.kept):
        for found in scan(store.home.kept, pack):
            if isinstance(found, Damage):
                continue
            header, place = found
            marked.update(header.leaves)
            if header.file in files and header.length:
                leaves.setdefault(header.file, []).append(number)
                places.append(place)
            number += 1
    run = removal.runs[0]
    store.begin_batch()
    for file, found_leaves in leaves.items():
        left = [leaf for leaf in found_leaves if leaf not in marked]
        for first in range(0, len(left), _LEAVES_A_FRAME):
            store.mark_forgotten(file, left[first : first + _LEAVES_A_FRAME], why=run.why, at=run.at, by=run.by)
    store.packs.sync()
    return places


def _leave_index(store: Store, removal: Removal) -> None:
    """Remove the runs from the index, or rebuild the index where other runs share calls or usage with them."""
    index = store.batches.index
    marks = ", ".join("?" * len(removal.runs))
    query = f"SELECT id FROM runs WHERE run_id IN ({marks})"
    numbers = [number for (number,) in index.execute(query, tuple(run.run_id for run in removal.runs))]
    if any(_is_shared(store, number) for number in numbers):
        store.make_index_anew()
        return
    index.connection.execute("PRAGMA secure_delete = ON")
    events = store.events
    for number in numbers:
        old = OldRun(index, number)
        events -= len(old.places)
        old.remove()
        old.remove_chunks()
        index.execute("DELETE FROM witnesses WHERE run = ?", (number,))
        index.execute("DELETE FROM runs WHERE id = ?", (number,))
    for file in removal.files:
        index.execute("DELETE FROM ranges WHERE file = ?", (file,))
        index.execute("DELETE FROM parsers WHERE file = ?", (file,))
        index.execute("DELETE FROM files WHERE id = ?", (file,))
    index.note("events", events)
    index.execute("INSERT INTO words (words) VALUES ('optimize')")
    store.commit()
    store.reconnect(_empty_log)


def _is_shared(store: Store, run: int) -> bool:
    """Whether counts of other runs depend on this one: copied history counts in the run that it was copied from."""
    query = """
        SELECT EXISTS (SELECT 1 FROM usage_shared WHERE run = ?)
            OR EXISTS (SELECT 1 FROM calls WHERE copy_of = ? OR (run = ? AND copy_of IS NOT NULL))
    """
    return bool(store.batches.index.execute(query, (run, run, run)).fetchone()[0])


def _empty_log(path: Path) -> None:
    """Write the write-ahead log of the index back and cut it: it holds what was removed."""
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.close()
    if is_busy:
        raise StoreError(f"another program still reads {path}; end it, then run: steno sync", str(path))


def _delete_pieces(folder: Path, files: set[int]) -> None:
    """Delete copies that a crash left, and torn pieces of packs that are of these files or cannot be read."""
    for path in folder.glob("*.erasing"):
        path.unlink()
    for path in folder.glob("*.torn-*"):
        if _file_of(path.read_bytes()) in (None, *files):
            path.unlink()
    sync_path(folder)


def _file_of(piece: bytes) -> int | None:
    """The number of the file that a torn frame is of; None where its header is torn, too."""
    if not piece.startswith(MAGIC) or len(piece) < 20:
        return None
    text = piece[20 : 20 + int.from_bytes(piece[4:8], "little")]
    try:
        found = msgspec.json.decode(text)["file"]
    except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) else None


def _delete(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        for suffix in sidecar_suffixes():
            path.with_suffix(suffix).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot delete {path}: {error.strerror}; delete it by hand", str(path)) from error


def paths_to_delete(run_id: str, paths: Iterable[str], roots: Iterable[Path]) -> list[str]:
    """The files of a run that we wrote ourselves, among the kept paths and below these roots."""
    roots = list(roots)
    received = {received_in(root) for root in roots}
    own = [path for path in paths if Path(path).parent.name == "transcripts" and Path(path).name == f"{run_id}.jsonl"]
    own += [path for path in paths if Path(path).parent in received]
    below = [root / "transcripts" / f"{run_id}.jsonl{suffix}" for root in roots for suffix in ("", ".torn")]
    return list(dict.fromkeys((*own, *(str(path) for path in below if path.exists()))))
