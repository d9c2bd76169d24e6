"""Maintenance of a lake, by a role that may delete: removes outdated rows, and joins small files into large ones.

Loaders and readers may run at the same time. What a loader commits meanwhile is not lost: Delta Lake refuses a commit
that would undo another, and it is tried again on the new version. Files that are being written and are not in the
table yet are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from stenograph.errors import StoreError
from stenograph.fleet.lake.load import loaded_upto
from stenograph.fleet.lake.place import how_written, lake_library, open_table, writing
from stenograph.fleet.lake.reading import Lake
from stenograph.fleet.store.erasing import delete_generation, erase_forgotten
from stenograph.fleet.store.objects import Objects
from stenograph.fleet.store.sent_events import generations
from stenograph.fleet.store.tombstones import archives_in, forgotten_runs

if TYPE_CHECKING:
    from deltalake import DeltaTable

_MOST_CONFLICTS = 20
_MOST_NAMED = 200
"""Runs that one statement names."""
_REPLACED = """
    SELECT archive, max(generation) FILTER (is_complete) AS newest FROM (
      SELECT archive, generation, max(last_block) >= min(goal) AS is_complete FROM all_runs GROUP BY archive, generation
    ) GROUP BY archive HAVING newest > min(generation)
"""
"""Archives with generations that a complete one replaced, and that one."""
_COMPLETE = """
    SELECT archive, generation FROM all_runs GROUP BY archive, generation HAVING max(last_block) >= min(goal)
"""
KEEP_HOURS = 24
"""How long replaced files are kept for readers that still use them."""


class Compacted(Struct, kw_only=True):
    """What maintenance did."""

    forgotten_rows: int = 0
    """Events of forgotten runs."""
    erased_pieces: int = 0
    """Objects of packs, journals and event segments from which forgotten runs were erased."""
    outdated_rows: int = 0
    """Events of replaced generations, or with replaced numbers."""
    files_before: int = 0
    files_after: int = 0
    deleted_files: int = 0
    """Files that nothing refers to any more."""
    deleted_segments: int = 0
    """Event segments of generations that a complete and loaded one replaced."""


def compact(store: Objects, *, keep_hours: int = KEEP_HOURS) -> Compacted:
    """Remove forgotten and outdated rows, join small files, and delete replaced files.

    If runs were forgotten, replaced files are deleted at once: a reader that used them starts again. Raises
    `RunNotFound` if there is no lake, and `StoreError` if it cannot be written.
    """
    Lake(store.url)
    done = Compacted()
    for archive in archives_in(store):
        erased = erase_forgotten(store, archive)
        done.erased_pieces += erased.pieces + erased.segments + erased.journals
    done.forgotten_rows = _remove_forgotten(store)
    done.outdated_rows = _remove_outdated(store)
    done.deleted_segments = _delete_replaced(store)
    _join_runs(store)
    events = _opened(store, "events")
    done.files_before = len(events.file_uris())
    _retried(store, lambda: _join_events(store))
    done.files_after = len(_opened(store, "events").file_uris())
    hours = 0 if done.forgotten_rows else keep_hours
    for table in ("events", "runs"):
        with writing(store.url):
            done.deleted_files += len(
                _opened(store, table).vacuum(retention_hours=hours, enforce_retention_duration=False, dry_run=False)
            )
    return done


def _opened(store: Objects, table: str) -> DeltaTable:
    found = open_table(store.url, table)
    assert found is not None
    return found


def _remove_forgotten(store: Objects) -> int:
    rows = 0
    for archive in archives_in(store):
        for some in _pieces(sorted(forgotten_runs(store, archive))):
            condition = f"archive = {_quoted(archive)} AND run_id IN ({', '.join(map(_quoted, some))})"
            rows += _retried(store, lambda condition=condition: _delete(store, "events", condition))  # type: ignore[misc]
            _retried(store, lambda condition=condition: _delete(store, "runs", condition))  # type: ignore[misc]
    return rows


def _remove_outdated(store: Objects) -> int:
    """Rows of generations that a complete one replaced, and of revisions that a later one replaced."""
    with Lake(store.url).connected() as connection:
        replaced = connection.execute(_REPLACED).fetchall()
        renumbered = connection.execute(
            "SELECT archive, run_id, generation, revision FROM current_runs WHERE revision > 0"
        ).fetchall()
    conditions = [
        f"archive = {_quoted(archive)} AND generation < {_quoted(generation)}" for archive, generation in replaced
    ]
    conditions += [
        f"archive = {_quoted(archive)} AND run_id = {_quoted(run_id)} AND generation = {_quoted(generation)}"
        f" AND revision < {revision}"
        for archive, run_id, generation, revision in renumbered
    ]
    rows = 0
    for condition in conditions:
        rows += _retried(store, lambda condition=condition: _delete(store, "events", condition))  # type: ignore[misc]
        if "revision" not in condition:
            _retried(store, lambda condition=condition: _delete(store, "runs", condition))  # type: ignore[misc]
    return rows


def _delete_replaced(store: Objects) -> int:
    """Delete event segments of generations before the newest, once that is complete and loaded."""
    table = _opened(store, "events")
    with Lake(store.url).connected() as connection:
        complete = set(connection.execute(_COMPLETE).fetchall())
    deleted = 0
    for archive in archives_in(store):
        found = generations(store, archive)
        if not found or (archive, found[-1].name) not in complete or not loaded_upto(table, archive, found[-1].name):
            continue
        deleted += sum(delete_generation(store, archive, each) for each in found[:-1])
    return deleted


def _delete(store: Objects, table: str, condition: str) -> int:
    with writing(store.url):
        return int(_opened(store, table).delete(condition)["num_deleted_rows"])


def _join_runs(store: Objects) -> None:
    """Keep only the newest row of each run."""

    def join() -> None:
        deltalake = lake_library()
        lake = Lake(store.url)
        with lake.connected() as connection:
            rows = connection.sql("SELECT * FROM current_runs").to_arrow_table()
        with writing(store.url):  # on the version that was read, so that no later row is lost
            deltalake.write_deltalake(lake.runs, rows, mode="overwrite", writer_properties=how_written())

    if len(_opened(store, "runs").file_uris()) > 1:
        _retried(store, join)


def _join_events(store: Objects) -> None:
    """Join the files of a day into one, sorted by run."""
    table = _opened(store, "events")
    counts: dict[str, int] = {}
    for uri in table.file_uris():
        day = next((part.removeprefix("day=") for part in uri.split("/") if part.startswith("day=")), None)
        if day is not None:
            counts[day] = counts.get(day, 0) + 1
    for day, count in sorted(counts.items()):
        if count > 1:
            with writing(store.url):
                _opened(store, "events").optimize.z_order(
                    ["archive", "run_id"], partition_filters=[("day", "=", day)], writer_properties=how_written()
                )


def _retried(store: Objects, work: Callable[[], Any]) -> Any:
    from deltalake.exceptions import CommitFailedError

    for _ in range(_MOST_CONFLICTS):
        try:
            return work()
        except CommitFailedError:  # a loader committed first: read the new version
            continue
    raise StoreError(f"loaders of {store.url} committed first {_MOST_CONFLICTS} times; try again later", store.url)


def _pieces(names: list[str]) -> Iterable[list[str]]:
    return (names[start : start + _MOST_NAMED] for start in range(0, len(names), _MOST_NAMED))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
