"""What is served: the runs of an archive or of a store, masked or not."""

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
from stenograph.runs.archive import Archive, open_archive
from stenograph.runs.info import RunInfo
from stenograph.server.machine_runs import MachineRuns
from stenograph.server.served_runs import ServedRuns

if TYPE_CHECKING:
    from stenograph.runs.mask import RunMask
    from stenograph.server.keeper import Keeper
    from stenograph.server.store_runs import StoreRuns

_RUN_ID = re.compile(r"[0-9a-f-]{4,36}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Site:
    """What is served. Every request opens it for itself."""

    home: Home
    """The folder of the archive; of a bundle or a store, a temporary one."""
    mask: RunMask | None = None
    """Masks everything that is shown; None if nothing is masked."""
    keeper: Keeper | None = None
    """The process that keeps the archive up to date."""
    bundle: Path | None = None
    """The bundle that was given instead of an archive."""
    store: StoreRuns | None = None
    """The runs of a store, if those are served instead of an archive's."""
    scripts: dict[str, bytes] = field(default_factory=dict)

    @property
    def runs(self) -> ServedRuns:
        """The runs that are shown."""
        return MachineRuns(self.home) if self.store is None else self.store

    @property
    def marks_folder(self) -> Path | None:
        """Where stars, names, tags and notes are kept; None if runs cannot be marked."""
        return None if self.bundle is not None else self.runs.marks_folder

    @contextmanager
    def archive(self) -> Iterator[Archive]:
        """The archive of this machine, for one request."""
        with open_archive(self.home.path) as archive:
            yield archive

    @contextmanager
    def run(self, run_id: str) -> Iterator[tuple[IndexReader, int, str]]:
        """The index with the number and the id of one run. Raises `RunNotFound`, also for what is not an id."""
        if not _RUN_ID.fullmatch(run_id):
            raise RunNotFound("that is not the id of a run; steno ls lists them", run_id)
        with self.runs.index_of(run_id) as found:
            yield found

    def info(self, reader: IndexReader, run: int) -> RunInfo:
        """A run in figures, as `steno ls --json` has them."""
        return self.masked(self.runs.info(reader, run))

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
