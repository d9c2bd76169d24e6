"""What a site needs from the runs that it shows, wherever they are kept.

`MachineRuns` reads the archive of this machine, `StoreRuns` the runs of all machines in a store. A store has no marks
and no live events: there `marks_folder` is None and `is_live` false, and pages leave out what needs them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, Unpack

from msgspec import Struct

from stenograph.archive.reader import IndexReader
from stenograph.query.search import Hit
from stenograph.runs.archive import Filters, SearchOptions, Stats
from stenograph.runs.info import RunInfo
from stenograph.runs.reader import RunReader

Owners = Mapping[str, str]
"""Whose runs to show, by the names in `OWNERS`; by default all."""
OWNERS = ("machine", "user", "team")
EVERYBODY: Owners = MappingProxyType({})


class Found(Struct, frozen=True):
    """What a search found."""

    hits: list[Hit]
    looked_at: str = ""
    """What was searched, if that is not everything."""


class RunTitle(Struct, frozen=True):
    """The names of a run."""

    name: str | None
    first_prompt: str | None
    agent: str
    project: str | None


class Neighbours(Struct, frozen=True):
    """The ids of the runs before and after a run in the list."""

    newer: str | None = None
    older: str | None = None


class ServedRuns(Protocol):
    """The runs of a site. Every method opens what it needs, and may be called from any thread."""

    @property
    def place(self) -> str:
        """The folder of the archive, or the URL of the store."""

    @property
    def marks_folder(self) -> Path | None:
        """Where stars, names, tags and notes are kept; None if runs cannot be marked."""

    @property
    def is_live(self) -> bool:
        """Whether what is added to runs can be followed."""

    @property
    def owners(self) -> tuple[str, ...]:
        """By which of `OWNERS` the list can be filtered."""

    def is_there(self) -> bool:
        """Whether there is an archive or a table yet."""

    def listed(
        self,
        limit: int,
        after: str | None = None,
        sort: str | None = None,
        owners: Owners = EVERYBODY,
        **filters: Unpack[Filters],
    ) -> list[RunInfo]:
        """Runs in figures, those with the newest events first unless `sort` says otherwise."""

    def search(
        self, words: str, options: SearchOptions, owners: Owners = EVERYBODY, **filters: Unpack[Filters]
    ) -> Found:
        """Events in which words are found, newest first."""

    def facets(self, words: str, limit: int) -> Iterable[tuple[str | None, ...]]:
        """Agent, project, role and day of the newest events with these words; empty if not known."""

    def stats(self, by: str, owners: Owners = EVERYBODY, **filters: Unpack[Filters]) -> Stats:
        """Sums."""

    def titles(self, run_ids: Collection[str]) -> dict[str, RunTitle]:
        """The names of runs."""

    def last_seqs(self, run_ids: Collection[str]) -> dict[str, int]:
        """The numbers of their last events."""

    def index_of(self, run_id: str) -> AbstractContextManager[tuple[IndexReader, int, str]]:
        """An index that has a run, with the number of the run in it, and its whole id. Raises `RunNotFound`."""

    def info(self, reader: IndexReader, run: int) -> RunInfo:
        """A run of such an index in figures: those of the list."""

    def copied(self, reader: IndexReader, run: int) -> int:
        """How many calls of a run were copied from the one that it continues, and count there."""

    def neighbours(self, reader: IndexReader, run: int) -> Neighbours:
        """The runs before and after a run in the list, as far as they are known."""

    def open(self, run_id: str, *, redact: bool = False) -> RunReader:
        """A reader of a run, by its whole id; close it."""
