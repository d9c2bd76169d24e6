"""Checks that a lake has what was pushed: every event once, no gap, and nothing that was forgotten."""

from __future__ import annotations

from msgspec import Struct, field

from stenograph.fleet.lake.load import loaded_upto, segments_of
from stenograph.fleet.lake.place import open_table
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.store.keys import events_folder
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.segment import read_segment
from stenograph.fleet.store.sent_events import generations
from stenograph.fleet.store.tombstones import archives_in, forgotten_runs

_DOUBLED = """
    SELECT count(*) - count(DISTINCT (archive, generation, revision, run_id, seq)) FROM events_table
"""
_COUNTED = """
    SELECT coalesce(sum(present), 0), coalesce(sum(events), 0) FROM (
      SELECT run.archive, run.run_id, any_value(run.events) AS events, count(event.seq) AS present
      FROM current_runs AS run LEFT JOIN current_events AS event
        ON event.archive = run.archive AND event.run_id = run.run_id
      GROUP BY run.archive, run.run_id
    )
"""


class ArchiveState(Struct, frozen=True, kw_only=True):
    """One archive."""

    archive: str
    generation: str
    loaded: int
    """The last block that the table has."""
    sent: int
    """The last block that was pushed."""
    goal: int
    """The last block that the host had then."""
    hole: int | None = None
    """The first block that is missing although later ones were pushed."""


class Checked(Struct, kw_only=True):
    """What a check found."""

    ok: bool = True
    rows: int = 0
    doubled: int = 0
    """Duplicate rows."""
    forgotten: int = 0
    """Rows of forgotten runs: steno lake compact removes them."""
    behind: int = 0
    """Archives with pushed events that are not loaded."""
    archives: list[ArchiveState] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def check(store: Objects) -> Checked:
    """Check all archives of a store and its lake. Raises `RunNotFound` if there is no lake."""
    lake = Lake(store.url)
    table = open_table(store.url, "events")
    assert table is not None
    found = Checked()
    forgotten: list[tuple[str, str]] = []
    for archive in archives_in(store):
        generation = max(generations(store, archive), default=None)
        forgotten += [(archive, run_id) for run_id in forgotten_runs(store, archive)]
        if generation is None:
            continue
        loaded = loaded_upto(table, archive, generation.name)
        state = _state(
            store, archive, generation.name, loaded, dict(segments_of(store, events_folder(archive, generation)))
        )
        found.archives.append(state)
        if state.hole is not None:
            found.findings.append(f"archive {archive}: block {state.hole} is missing; its host must push it")
        if state.loaded < state.sent:
            found.behind += 1
    with lake.connected() as connection:
        found.rows = connection.execute("SELECT count(*) FROM events_table").fetchall()[0][0]
        found.doubled = connection.execute(_DOUBLED).fetchall()[0][0]
        for archive, run_id in forgotten:
            query = "SELECT count(*) FROM events_table WHERE archive = ? AND run_id = ?"
            found.forgotten += connection.execute(query, [archive, run_id]).fetchall()[0][0]
        present, expected = connection.execute(_COUNTED).fetchall()[0]
    if found.doubled:
        found.findings.append(f"{found.doubled:,} events are there twice")
    if found.forgotten:
        found.findings.append(f"{found.forgotten:,} events of forgotten runs; run: steno lake compact")
    if present != expected and not found.behind:
        found.findings.append(f"{present:,} events are there, but hosts report {expected:,}")
    found.ok = not found.findings
    return found


def _state(store: Objects, archive: str, generation: str, loaded: int, segments: dict[int, str]) -> ArchiveState:
    """How far an archive is; segments that are loaded are not read again."""
    upto, goal, hole = loaded, loaded, None
    for start in sorted(segments):
        if start <= loaded:
            continue
        if start > upto + 1 and hole is None:
            hole = upto + 1
        header = read_segment(store.get(segments[start]), segments[start]).header
        upto, goal = header.last, header.goal
    return ArchiveState(archive=archive, generation=generation, loaded=loaded, sent=upto, goal=goal, hole=hole)
