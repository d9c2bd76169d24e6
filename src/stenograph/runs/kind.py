"""What one kind of run does in its own way; everything else a `RunReader` does for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from stenograph.fold.status import Life
from stenograph.fold.tree import RunNode
from stenograph.model.event import Event
from stenograph.runs.info import RunInfo
from stenograph.runs.passage import Passage
from stenograph.runs.problem import Problem

Line = tuple[Event, bytes | None]
"""An event with the very line that it was read from; None where it was made of something else."""


class Growth(Protocol):
    """A run while it is followed."""

    @property
    def folders(self) -> frozenset[Path]:
        """Where a change means that there may be more, as it is now."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether nothing can come any more."""
        ...

    def new(self) -> Iterator[Line]:
        """What has come since the last call; at first, everything from the number on that was asked for."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...


class Verified(Struct, frozen=True, kw_only=True):
    """The outcome of a check."""

    ok: bool
    summary: str
    """In one line, for people."""
    findings: tuple[str, ...]
    """Each in one line: `✗` for a problem, `·` for what is worth knowing."""
    report: Any
    """All of it, for programs."""


class RunKind(Protocol):
    """One run, where it is kept."""

    @property
    def name(self) -> str:
        """What the kind is called, as in "a journal"."""
        ...

    @property
    def place(self) -> str:
        """Where the run is: a path, or the folder of an archive."""
        ...

    @property
    def run_id(self) -> str:
        """The run, as far as it can be told without reading on; else an empty text."""
        ...

    def events(self, passage: Passage, *, keep_raw: bool) -> Iterator[Event]:
        """The events of a passage, from the first on. `keep_raw`: with the source lines, where they are at hand."""
        ...

    def lines(self) -> Iterator[Line]:
        """Every event that has a number, each with its line."""
        ...

    def info(self) -> RunInfo:
        """What the run is and what it came to."""
        ...

    def life(self) -> Life:
        """What is known of the process that writes the run."""
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
        """Check all that the run promises."""
        ...

    def for_bundle(self) -> Iterable[Event]:
        """What a bundle is made of: the events of the run and of those that it called. Raises `InvalidTarget`."""
        ...

    def journal(self) -> Path:
        """The file, where the run is a journal. Raises `InvalidTarget`."""
        ...

    def close(self) -> None:
        """Let go of what was opened."""
        ...
