"""What is served: an archive, masked or not, with the process that keeps it up to date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stenograph.archive.reader import IndexReader
from stenograph.archive.store.home import Home
from stenograph.errors import RunNotFound
from stenograph.fold.explain import Explained, explained
from stenograph.query.prices import load_prices
from stenograph.query.run_status import RunStatuses
from stenograph.query.runs import run_line
from stenograph.runs.archive import Archive, open_archive
from stenograph.runs.info import RunInfo, info_of_line

if TYPE_CHECKING:
    from stenograph.runs.mask import RunMask
    from stenograph.server.keeper import Keeper

_RUN_ID = re.compile(r"[0-9a-f-]{4,36}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Site:
    """One archive as it is served. Every request opens the archive for itself."""

    home: Home
    mask: RunMask | None = None
    """Masks whatever is shown; None where nothing is masked."""
    keeper: Keeper | None = None
    """The process that keeps the archive up to date."""
    bundle: Path | None = None
    """The bundle that was given instead of an archive."""
    scripts: dict[str, bytes] = field(default_factory=dict)

    @contextmanager
    def archive(self) -> Iterator[Archive]:
        """The archive, for one request."""
        with open_archive(self.home.path) as archive:
            yield archive

    @contextmanager
    def run(self, run_id: str) -> Iterator[tuple[IndexReader, int, str]]:
        """The index with the number and the id of one run. Raises `RunNotFound`, also for what is not an id."""
        if not _RUN_ID.fullmatch(run_id):
            raise RunNotFound("that is not the id of a run; steno ls lists them", run_id)
        with self.archive() as archive, archive.reading() as reader:
            yield (reader, *reader.find_run(run_id))

    def info(self, reader: IndexReader, run: int) -> RunInfo:
        """A run in figures, as `steno ls --json` has them."""
        info = info_of_line(run_line(reader.index, run, load_prices()), self.home.identity())
        return info if self.mask is None else self.mask.info(info)

    def copied(self, reader: IndexReader, run: int) -> int:
        """How many calls of a run were copied from the one that it continues, and count there."""
        found: int = reader.index.execute("SELECT copied_calls FROM main.runs WHERE id = ?", (run,)).fetchone()[0]
        return found

    def explained(self, reader: IndexReader, run: int) -> Explained:
        """What happened in a run, as `steno explain` says it; all of the run is read for it."""
        events = reader.events(run)
        shown = events if self.mask is None else self.mask.events(events)
        return explained(shown, load_prices(), RunStatuses(reader.index).life(run))

    def masked(self, info: RunInfo) -> RunInfo:
        """The figures of a run as they may be shown."""
        return info if self.mask is None else self.mask.info(info)

    def text(self, text: str) -> str:
        """A text as it may be shown."""
        return text if self.mask is None else self.mask.text(text)
