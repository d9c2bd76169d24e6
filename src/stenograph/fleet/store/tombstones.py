"""Tombstones: objects that mark a run as forgotten. Push, pull and load obey them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from stenograph.archive.store.forgotten import ForgottenRun
from stenograph.errors import SourceError, StenographError
from stenograph.fleet.store.keys import ROOT, forgotten_folder, tombstone_key
from stenograph.fleet.store.objects import Objects


class Tombstone(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of such an object."""

    run_id: str
    at: str
    by: str
    why: str = ""


def archives_in(store: Objects) -> list[str]:
    """The ids of the archives in a store."""
    return store.folders(ROOT)


def forgotten_runs(store: Objects, archive: str) -> frozenset[str]:
    """The forgotten runs of an archive, by their keys alone."""
    return frozenset(entry.key.rpartition("/")[2] for entry in store.entries(forgotten_folder(archive)))


def read_tombstone(store: Objects, archive: str, run_id: str) -> ForgottenRun:
    """A tombstone as an archive's list of forgotten runs has it; one that cannot be read still counts."""
    try:
        tombstone = msgspec.json.decode(store.get(tombstone_key(archive, run_id)), type=Tombstone)
    except msgspec.MsgspecError:
        tombstone = Tombstone(run_id=run_id, at="", by="unknown")
    return ForgottenRun(run_id=run_id, at=tombstone.at, by=tombstone.by, why=tombstone.why)


def write_tombstones(
    store: Objects, archives: Iterable[str], tombstones: Iterable[Tombstone]
) -> dict[str, StenographError]:
    """Put tombstones into archives; returns the failures by archive: the others have them."""
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
    """Every archive of the store; only its own, and False, for a machine without permission to list the others."""
    try:
        return sorted({*archives_in(store), *([own] if own else [])}), True
    except SourceError:
        if own is None:
            raise
        return [own], False
