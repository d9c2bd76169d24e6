"""The list of runs that were removed on purpose (`forgotten.jsonl`): a sync does not keep them again.

A person who wants a run back deletes its line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from stenograph.errors import RunNotFound, SourceError, unreadable

REMOVED = "removed on purpose (steno forget)"
"""Why a file is not kept."""


class ForgottenRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the list."""

    run_id: str
    at: str
    by: str
    why: str = ""
    paths: tuple[str, ...] = ()
    """Where its files were."""
    states: dict[str, tuple[int | None, int | None]] = {}
    """Of a run that expired: the size and time of its files by path. One that changed since is kept again."""


class ForgottenRuns:
    """The list."""

    def __init__(self, runs: Iterable[ForgottenRun] = ()) -> None:
        self.runs = {run.run_id: run for run in runs}
        self.paths = {path for run in self.runs.values() for path in run.paths}

    def holds_back(self, run_id: str, path: str, state: tuple[int | None, int | None] | None) -> bool:
        """Whether a file of a run, in its present state, must not be kept."""
        run = self.runs.get(run_id)
        return run is not None and (not run.states or run.states.get(path) == state)

    def holds_back_place(self, path: str, state: tuple[int | None, int | None]) -> bool:
        """Whether a file that does not name its run must not be kept, by its path alone."""
        return any(path in run.paths and self.holds_back(run.run_id, path, state) for run in self.runs.values())

    def on_purpose(self) -> frozenset[str]:
        """The runs that a person removed, without those that expired: they are never kept again."""
        return frozenset(run_id for run_id, run in self.runs.items() if not run.states)

    def find(self, prefix: str) -> ForgottenRun | None:
        """The run with that id, or the only one whose id begins with `prefix`."""
        found = [run for run_id, run in self.runs.items() if run_id.startswith(prefix.lower())]
        return self.runs.get(prefix.lower()) or (found[0] if prefix and len(found) == 1 else None)


def read_forgotten(path: Path) -> ForgottenRuns:
    """The list in a file; empty where there is none. Raises `SourceError` for a line that cannot be read."""
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
        return ForgottenRuns(msgspec.json.decode(line, type=ForgottenRun) for line in lines if line.strip())
    except OSError as error:
        raise unreadable(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read {path}: {error}; mend or delete that line", str(path)) from error


def add_forgotten(path: Path, runs: Iterable[ForgottenRun]) -> None:
    """Add runs that are not in the list, and sync the file to disk."""
    known = read_forgotten(path).runs
    data = b"".join(msgspec.json.encode(run) + b"\n" for run in runs if known.get(run.run_id) != run)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "r+b") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def check_not_forgotten(path: Path, prefix: str) -> None:
    """Raise `RunNotFound` with the reason for a run that was removed on purpose."""
    run = read_forgotten(path).find(prefix)
    if run is not None:
        why = f": {run.why}" if run.why else ""
        raise RunNotFound(f"the run {run.run_id} was removed on purpose by {run.by} at {run.at}{why}", run.run_id)
