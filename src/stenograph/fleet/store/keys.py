"""The keys of a store: which object is where below the prefix of an archive.

A piece is named by the place where it begins, with enough digits that names sort like numbers.
"""

from __future__ import annotations

from typing import NamedTuple

ROOT = "v1/"
"""Below it, one folder for each archive."""
_DIGITS = 16


class Generation(NamedTuple):
    """One numbering of an archive's events: a rebuilt index is another one. The highest number counts."""

    number: int
    index_name: str
    """The name of the index (`schema.index_name`) that numbered them."""
    is_masked: bool

    @property
    def name(self) -> str:
        """Its form in a key."""
        return f"{self.number:06}-{self.index_name}{'-masked' if self.is_masked else ''}"


def generation_of(name: str) -> Generation | None:
    """The generation of that name; None for what is not one."""
    number, _, rest = name.partition("-")
    index, _, masked = rest.partition("-")
    if not number.isdecimal() or not index or masked not in ("", "masked"):
        return None
    return Generation(int(number), index, bool(masked))


def archive_folder(archive: str) -> str:
    """Everything of an archive."""
    return f"{ROOT}{archive}/"


def identity_key(archive: str) -> str:
    """What its `kept/archive.json` says."""
    return f"{archive_folder(archive)}archive.json"


def packs_folder(archive: str) -> str:
    """Its packs, byte for byte, one folder for each."""
    return f"{archive_folder(archive)}bytes/"


def pack_folder(archive: str, pack: int) -> str:
    """The pieces of one pack: whole frames."""
    return f"{packs_folder(archive)}{pack:06}/"


def journals_folder(archive: str) -> str:
    """Its journals, byte for byte, one folder for each run."""
    return f"{archive_folder(archive)}journals/"


def journal_folder(archive: str, run_id: str) -> str:
    """The pieces of one journal: whole lines."""
    return f"{journals_folder(archive)}{run_id}/"


def generations_folder(archive: str) -> str:
    """Its numbered events, one folder for each generation."""
    return f"{archive_folder(archive)}events/"


def events_folder(archive: str, generation: Generation) -> str:
    """The segments of one generation."""
    return f"{generations_folder(archive)}{generation.name}/"


def forgotten_folder(archive: str) -> str:
    """The folder of tombstones: one object for each forgotten run."""
    return f"{archive_folder(archive)}forgotten/"


def tombstone_key(archive: str, run_id: str) -> str:
    """The tombstone of a run."""
    return f"{forgotten_folder(archive)}{run_id}"


def erased_key(archive: str) -> str:
    """How far maintenance has erased forgotten runs."""
    return f"{archive_folder(archive)}erased.json"


def piece_key(folder: str, start: int) -> str:
    """The piece that begins there: a byte of a pack or journal, or the number of a block."""
    return f"{folder}{start:0{_DIGITS}}"


def start_of(key: str) -> int | None:
    """Where the piece of that key begins; None for a key that is not one of a piece."""
    name = key.rpartition("/")[2]
    return int(name) if len(name) == _DIGITS and name.isdecimal() else None
