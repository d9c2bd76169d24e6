"""Removal of runs: which runs are selected, which others hold the same content, and the removal itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from stenograph.archive.keep.walk import JOURNALS
from stenograph.archive.reader import IndexReader
from stenograph.archive.store.copies import copies_of, runs_containing
from stenograph.archive.store.damage import readable_index
from stenograph.archive.store.forgetting import Removal, forget, paths_to_delete
from stenograph.archive.store.forgotten import ForgottenRun, read_forgotten
from stenograph.archive.store.home import Home
from stenograph.archive.store.pack import About
from stenograph.archive.writer import Store
from stenograph.journal.place import storage_root
from stenograph.query.period import period_of

if TYPE_CHECKING:
    from sqlite3 import Connection

_PATIENCE = 30.0
LONGEST_REASON = 1000
_PLACES = "#"


class Wanted(Struct, frozen=True, kw_only=True):
    """The runs that a person selects; all given conditions must hold."""

    run_ids: tuple[str, ...] = ()
    """Ids or their beginnings, `@`."""
    containing: str | None = None
    older_than: str | None = None
    """An age such as `90d`, or a moment."""
    with_copies: bool = False


class Plan(Struct, frozen=True, kw_only=True):
    """What would be removed."""

    run_ids: tuple[str, ...]
    copies: dict[str, int]
    """Other runs that hold the same messages, with how many; those with 0 were called by one of these."""
    sources: tuple[str, ...]
    """The agents' own files that exist."""
    bytes: int
    """The size of their kept files."""


def plan_of(home: Home, wanted: Wanted) -> Plan:
    """The selected runs, looked up. Raises `RunNotFound` for a run that does not exist."""
    with readable_index(), IndexReader(home.path) as reader:
        run_ids = _meant(reader, wanted)
        copies = copies_of(reader, run_ids) if run_ids else {}
        if wanted.with_copies:
            while copies:
                run_ids += copies
                copies = copies_of(reader, run_ids)
        files = _files(reader.index, run_ids)
        kept = sum(length for _, _, length in files)
        sources = tuple(about.path for _, about, _ in files if _is_source(about) and Path(about.path).exists())
    return Plan(run_ids=tuple(run_ids), copies=copies, sources=sources, bytes=kept)


def plan_of_runs(home: Home, run_ids: Sequence[str]) -> Plan:
    """A plan that removes exactly these runs, given by their whole ids."""
    with readable_index(), IndexReader(home.path) as reader:
        files = _files(reader.index, run_ids)
    return Plan(run_ids=tuple(run_ids), copies={}, sources=(), bytes=sum(length for _, _, length in files))


def _meant(reader: IndexReader, wanted: Wanted) -> list[str]:
    found: list[str] | None = None
    if wanted.run_ids:
        found = list(dict.fromkeys(_run_id(reader, each) for each in wanted.run_ids))
    if wanted.containing is not None:
        holding = runs_containing(reader.home.kept, wanted.containing)
        found = [each for each in (holding if found is None else found) if each in holding]
    if wanted.older_than is not None:
        before = period_of(wanted.older_than, None).since
        query = "SELECT run_id FROM runs WHERE ended_ms < ? ORDER BY id"
        old = [run_id for (run_id,) in reader.index.execute(query, (before,))]
        found = old if found is None else [each for each in found if each in set(old)]
    return found or []


def _run_id(reader: IndexReader, text: str) -> str:
    from stenograph.runs.target import find_archived

    kind = find_archived(text, reader.home.path)
    kind.close()
    return kind.run_id


def forget_runs(
    home: Home, plan: Plan, *, why: str, by: str, at: str, also_source: bool = False, expired: bool = False
) -> None:
    """Remove the runs of a plan for good; with `expired`, a file of theirs that changes later is kept again.

    Raises `StoreError` when the archive cannot be written.
    """
    with readable_index(), Store(home, patience=_PATIENCE) as store:
        files = _files(store.connection, plan.run_ids)
        delete = list(plan.sources) if also_source else []
        runs = []
        for run_id in plan.run_ids:
            paths = tuple(about.path for _, about, _ in files if about.run_id == run_id)
            delete += paths_to_delete(run_id, paths, (home.path, storage_root()))
            states = _states(store.connection, run_id) if expired else {}
            runs.append(ForgottenRun(run_id=run_id, at=at, by=by, why=why[:LONGEST_REASON], paths=paths, states=states))
        forget(store, Removal(runs=tuple(runs), files=tuple(file for file, _, _ in files), delete=tuple(delete)))
        store.forgotten = read_forgotten(home.forgotten)


def _files(index: Connection, run_ids: Sequence[str]) -> list[tuple[int, About, int]]:
    found = []
    for run_id in run_ids:
        for number, about, kept in index.execute("SELECT id, about, kept FROM files WHERE run_id = ?", (run_id,)):
            found.append((number, msgspec.json.decode(about, type=About), kept))
    return found


def _states(index: Connection, run_id: str) -> dict[str, tuple[int | None, int | None]]:
    query = "SELECT path, size, mtime_ns FROM files WHERE run_id = ?"
    return {path: (size, mtime_ns) for path, size, mtime_ns in index.execute(query, (run_id,))}


def _is_source(about: About) -> bool:
    return about.format != JOURNALS and _PLACES not in Path(about.path).name
