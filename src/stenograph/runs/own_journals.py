"""Indexes our own journals as soon as their recording has ended.

Theory of operation. A recording must not wait for the archive, so it starts a process that outlives it: in a session of
its own, with none of its pipes. That process takes the archive's lock like every other writer, reads only the
given journals, and writes problems to the log of problems, because it has no terminal. An index of
another version is left to the next `steno sync`, which rebuilds it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from stenograph import config

_PATIENCE = 120.0
_STANDARD = (0, 1, 2)


def index_later(journals: Sequence[Path]) -> None:
    """Start a process that indexes these journals, except those that a sync would not find."""
    if config.value("archive.index") is False:
        return
    found = [str(journal.resolve()) for journal in journals if journal.is_file() and _is_synced(journal)]
    if not found:
        return
    command = [sys.executable, "-P", "-m", "stenograph.runs.own_journals", *found]
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in _STANDARD]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere, setsid=True)


def _is_synced(journal: Path) -> bool:
    """Whether a journal is in the archive or in the configured storage: a sync searches only there."""
    from stenograph.journal.place import archive_home

    storage = config.value("archive.storage")
    places = [archive_home(), *([Path(storage)] if storage else [])]
    return journal.parent.resolve() in [(place / "transcripts").resolve() for place in places]


def index_journals(journals: Sequence[str]) -> None:
    """Index these journals in the archive of this machine. Raises `StoreError`."""
    keep_now(["stenograph"], only=journals)


def keep_now(agents: Sequence[str], only: Sequence[str] | None = None) -> None:
    """Sync what these agents wrote, or only some of their files. Raises `StoreError`, and `SourceError`.

    An index of another version is left to the next `steno sync`.
    """
    from stenograph.archive.index.schema import schema_of
    from stenograph.archive.index.tables import SCHEMA
    from stenograph.archive.keep.sync import sync
    from stenograph.archive.store.home import home_of
    from stenograph.archive.writer import Store
    from stenograph.runs.syncing import wanted_roots

    home = home_of()
    if home.index.exists() and schema_of(home.index) != SCHEMA:
        return
    roots = wanted_roots(home, None, agents, ())
    with Store(home, patience=_PATIENCE) as store:
        sync(store, roots, only=only)


def main() -> None:
    """Index the journals that the command line names."""
    from stenograph.journal.problems import note

    try:
        os.chdir("/")
        index_journals(sys.argv[1:])
    except Exception as error:  # noqa: BLE001  # the log of problems is the only output of this process
        note(None, f"what was recorded is not indexed yet: {type(error).__name__}: {error}; run: steno sync")


if __name__ == "__main__":
    main()
