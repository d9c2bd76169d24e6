"""What differs between kinds of runs; everything else a `RunReader` does for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from stenograph.fold.status import Life
from stenograph.fold.tree import RunNode
from stenograph.model.event import Event
from stenograph.runs.info import RunInfo
from stenograph.runs.problem import Problem
from stenograph.runs.selection import Selection

Line = tuple[Event, bytes | None]
"""An event with the exact line that it was read from; None where it was not read from a line."""


class Growth(Protocol):
    """A run while it is followed."""

    @property
    def folders(self) -> frozenset[Path]:
        """The folders to watch for changes; they may change."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing more can come."""
        ...

    def new(self) -> Iterator[Line]:
        """What is new since the last call; at first, everything from the requested number on."""
        ...

    def close(self) -> None:
        """Close files."""
        ...


class Verified(Struct, frozen=True, kw_only=True):
    """The outcome of a check."""

    ok: bool
    summary: str
    """One line for people."""
    findings: tuple[str, ...]
    """One line each: `✗` for a problem, `·` for a notice."""
    report: Any
    """The whole report, for programs."""


class RunKind(Protocol):
    """One run, by where it is kept."""

    @property
    def name(self) -> str:
        """The name of the kind, as in "a journal"."""
        ...

    @property
    def place(self) -> str:
        """Where the run is: a path, or the folder of an archive."""
        ...

    @property
    def run_id(self) -> str:
        """The run's id, as far as it is known without reading on; else an empty text."""
        ...

    def events(self, selection: Selection, *, keep_raw: bool) -> Iterator[Event]:
        """The selected events, from the first on. `keep_raw`: with the source lines, where they are available."""
        ...

    def lines(self) -> Iterator[Line]:
        """Every event that has a number, each with its line."""
        ...

    def info(self) -> RunInfo:
        """What the run is, and its totals."""
        ...

    def life(self) -> Life:
        """What is known about the process that writes the run."""
        ...

    def tree(self) -> RunNode:
        """The run with its steps or subagents, and the runs that it called."""
        ...

    def problems(self) -> tuple[Problem, ...]:
        """What could not be read; reads the run once where that was not done yet."""
        ...

    def growth(self, from_seq: int) -> Growth:
        """The run, to be followed from an event on."""
        ...

    def verified(self) -> Verified:
        """Check everything that the run promises."""
        ...

    def for_bundle(self) -> Iterable[Event]:
        """What a bundle is made of: the events of the run and of those that it called. Raises `InvalidTarget`."""
        ...

    def journal(self) -> Path:
        """The file, where the run is a journal. Raises `InvalidTarget`."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...
