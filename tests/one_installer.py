"""A lock for tests that install programs into a cache folder: they run in several processes."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def installing_alone(place: Path) -> Iterator[None]:
    """Let one process at a time install what belongs into this folder; makes the folder around it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
