"""Tombstones: objects that say that a run must not be kept.

Who sends an archive, brings it back or loads its events obeys them.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from stenograph.archive.store.forgotten import ForgottenRun
from stenograph.errors import SourceError, StenographError
from stenograph.fleet.store.keys import ROOT, forgotten_folder, tombstone_key
from stenograph.fleet.store.objects import Objects


class Tombstone(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What such an object says."""

    run_id: str
    at: str
    by: str
    why: str = ""


def archives_in(store: Objects) -> list[str]:
    """The ids of the archives in a store."""
    return store.folders(ROOT)


def forgotten_runs(store: Objects, archive: str) -> frozenset[str]:
    """The runs of an archive that must not be kept, by their keys alone."""
    return frozenset(entry.key.rpartition("/")[2] for entry in store.entries(forgotten_folder(archive)))


def read_tombstone(store: Objects, archive: str, run_id: str) -> ForgottenRun:
    """A tombstone as the list of an archive has it; one that cannot be read counts all the same."""
    try:
        told = msgspec.json.decode(store.get(tombstone_key(archive, run_id)), type=Tombstone)
    except msgspec.MsgspecError:
        told = Tombstone(run_id=run_id, at="", by="unknown")
    return ForgottenRun(run_id=run_id, at=told.at, by=told.by, why=told.why)


def write_tombstones(
    store: Objects, archives: Iterable[str], tombstones: Iterable[Tombstone]
) -> dict[str, StenographError]:
    """Put tombstones into archives; what went wrong by archive, where it did: the others have them."""
    problems: dict[str, StenographError] = {}
    tombstones = list(tombstones)
    for archive in archives:
        try:
            for each in tombstones:
                store.create(tombstone_key(archive, each.run_id), msgspec.json.encode(each))
        except StenographError as error:
            problems[archive] = error
    return problems


def archives_to_tell(store: Objects, own: str | None) -> tuple[list[str], bool]:
    """Every archive of the store; its own alone, and False, for a machine that may not list the others."""
    try:
        return sorted({*archives_in(store), *([own] if own else [])}), True
    except SourceError:
        if own is None:
            raise
        return [own], False
