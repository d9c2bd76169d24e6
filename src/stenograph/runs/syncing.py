"""The folders that a sync searches, as a person names them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stenograph import config
from stenograph.archive.keep.walk import Root, roots_of
from stenograph.archive.store.home import Home
from stenograph.errors import SourceError, StoreError
from stenograph.journal.place import ENVIRONMENT as STORAGE


def wanted_roots(
    archive: Home, home: str | None, agents: Sequence[str], paths: Sequence[str], *, existing_only: bool = True
) -> list[Root]:
    """The folders of agents below a home, and the named ones. Raises `SourceError` for one that does not exist.

    With `existing_only` false also those of agents that do not exist yet.
    """
    for folder in (*paths, *([home] if home else [])):
        if not Path(folder).is_dir():
            raise SourceError(f"there is no folder {folder}; check the path", folder)
    # Another user's home does not use our environment or configuration.
    storage = config.value("archive.storage") if home is None else None
    environment = {} if home is not None else {**os.environ, **({STORAGE: storage} if storage else {})}
    roots = [Root(Path(path).resolve(), None) for path in paths]
    if not paths or agents or home:
        roots += roots_of(
            environment, Path(home or Path.home()), archive.path, tuple(agents), existing_only=existing_only
        )
    for root in roots:
        if root.format != "exchange" and archive.path.resolve().is_relative_to(root.path):
            message = (
                f"the archive {archive.path} is inside {root.path}, which it keeps; set $STENOGRAPH_HOME elsewhere"
            )
            raise StoreError(message, str(archive.path))
    return roots
