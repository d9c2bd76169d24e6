"""Secrets in the events that a sync added to the archive."""

from __future__ import annotations

from collections.abc import Mapping

from stenograph.errors import SourceError
from stenograph.runs.archive import Archive

_COUNTS = """
    SELECT runs.run_id, count(*) FROM main.events AS events JOIN main.runs AS runs ON runs.id = events.run
    GROUP BY events.run
"""


def event_counts(archive: Archive) -> dict[str, int]:
    """How many events each run of the archive has; none where there is no archive yet."""
    try:
        with archive.reading() as reader:
            return dict(reader.index.execute(_COUNTS).fetchall())
    except SourceError:
        return {}


def new_secrets(archive: Archive, before: Mapping[str, int]) -> dict[str, int]:
    """How many secrets are in the events that were added since then, by run, where there are any."""
    from stenograph.bundle.secrets import machine_mask  # many patterns, which are slow to load
    from stenograph.runs.secrets import secrets_in

    found: dict[str, int] = {}
    mask = machine_mask()
    for run_id, count in event_counts(archive).items():
        first = before.get(run_id, 0)
        if count > first:
            with archive.run(run_id) as run:
                events = (event for number, event in enumerate(run.events(keep_raw=False)) if number >= first)
                number = sum(1 for _ in secrets_in(events, mask))
            if number:
                found[run_id] = number
    return found
