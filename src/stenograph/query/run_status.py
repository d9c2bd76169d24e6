"""The status of archived runs: what their events say (stored with the run), and whether they are alive (asked now)."""

from __future__ import annotations

import sqlite3
from functools import lru_cache

import msgspec

from stenograph.fold.status import Life, RunStatus, Verdict
from stenograph.liveness import Liveness

_RUN = "SELECT run_id, format, ended_ms FROM main.runs WHERE id = ?"
_FILES = "SELECT path FROM main.files WHERE run_id = ? AND is_present"
_decode = msgspec.json.Decoder(RunStatus).decode


class RunStatuses:
    """The status of the runs of an archive, at one moment; `index` is a connection to its tables."""

    def __init__(self, index: sqlite3.Connection, liveness: Liveness | None = None) -> None:
        self._index = index
        self._liveness = Liveness() if liveness is None else liveness
        self.verdict = lru_cache(None)(self._verdict)
        """Of a run (`runs.id`)."""

    def _verdict(self, run: int) -> Verdict:
        (evidence,) = self._index.execute("SELECT evidence FROM main.runs WHERE id = ?", (run,)).fetchone()
        return _decode(evidence).verdict(self.life(run))

    def life(self, run: int) -> Life:
        """What is known about the process that writes a run (`runs.id`)."""
        run_id, format_name, ended_ms = self._index.execute(_RUN, (run,)).fetchone()
        paths = [path for (path,) in self._index.execute(_FILES, (run_id,))]
        files = [path for path in paths if "#" not in path]
        if len(files) < len(paths):  # a session in a database, whose file is written for every session
            return Life(is_recent=ended_ms is not None and self._liveness.is_recent(ended_ms / 1000))
        return self._liveness.of(files, is_journal=format_name == "exchange")


def add_status_functions(connection: sqlite3.Connection, statuses: RunStatuses) -> None:
    """Add `steno_status(runs.id)` and `steno_status_reason(runs.id)` to SQL."""
    connection.create_function("steno_status", 1, lambda run: statuses.verdict(run).status)
    connection.create_function("steno_status_reason", 1, lambda run: statuses.verdict(run).reason)
