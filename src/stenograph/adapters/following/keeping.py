"""Records an agent whose sessions are rows of a database: archives them as the agent writes.

Theory of operation. Rows change after they are written, so a journal, which only grows, cannot follow them; the archive
can. Each time a file of the store changed, a sync of that agent alone reads what is new. A sync costs something, so
each is followed by a pause that is a multiple of its duration.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from stenograph.formats.base import FormatSpec
from stenograph.runs.own_journals import keep_now
from stenograph.sources.layouts import layout_of

_LOOK = 0.5
_SHORTEST_PAUSE = 1.0
_PAUSES = 5.0
"""The pause after a sync, as a multiple of its duration."""


def keep_store(spec: FormatSpec, goes_on: Callable[[bool], bool]) -> None:
    """Archive what the agent writes to its store while `goes_on(has_changed)` returns True.

    Raises `StoreError` if the archive cannot be written, and `SourceError` if the store cannot be read.
    """
    seen: object = None
    due = 0.0
    while True:
        now = _state(spec)
        has_changed = now != seen
        is_over = not goes_on(has_changed)
        if has_changed and (is_over or time.monotonic() >= due):
            began = time.monotonic()
            keep_now([spec.agent.id])
            seen, took = now, time.monotonic() - began
            due = time.monotonic() + max(_SHORTEST_PAUSE, took * _PAUSES)
        if is_over:
            return
        time.sleep(_LOOK)


def _state(spec: FormatSpec) -> tuple[object, ...]:
    """A value that changes when a file of the store is written."""
    found = []
    for root in layout_of(spec.name).roots(os.environ, Path.home()):
        try:
            entries = [entry for entry in os.scandir(root) if ".db" in entry.name]
            found += [(entry.path, entry.stat().st_mtime_ns, entry.stat().st_size) for entry in entries]
        except OSError:  # the agent has not written yet, or is replacing a file
            continue
    return tuple(sorted(found))
