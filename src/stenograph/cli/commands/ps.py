"""`steno ps`: the runs that are working or waiting now."""

from __future__ import annotations

import time

import click

from stenograph.cli.freshness import sync_option
from stenograph.cli.options import archive_option, print_json, say
from stenograph.cli.table import form_options, print_csv, print_fitted
from stenograph.cli.terminal import cut
from stenograph.errors import RunNotFound
from stenograph.model.moment import milliseconds_of
from stenograph.query.short_ids import short_ids
from stenograph.render.figures import duration, when
from stenograph.runs.active import active_runs
from stenograph.runs.archive import Archive
from stenograph.runs.info import RunInfo

_HEAD = ("run", "agent", "project", "status", "since", "last event", "why", "title")
_OPTIONAL = ("since", "project", "agent", "why", "last event")
_WIDEST = 40
_ROOM_FOR_TITLE = 16


@click.command("ps", epilog="Example: steno ps")
@archive_option
@sync_option
@form_options
def command(archive_dir: str | None, form: str | None) -> None:
    """List the runs that are working now, or waiting for a person, with the evidence that they are alive.

    Processes and files are checked as they are now. Add --sync to find sessions that are not recorded or synced yet.
    """
    with Archive(archive_dir) as archive:
        runs = active_runs(archive)
        names = _names(archive)
    if form == "json":
        print_json([run.to_dict() for run in runs])
    elif form == "csv":
        print_csv(RunInfo.__struct_fields__, (run.to_dict() for run in runs))
    elif runs:
        now = time.time()
        print_fitted(_HEAD, [_cells(run, now, names) for run in runs], _OPTIONAL, "title", _ROOM_FOR_TITLE)
    else:
        say(f"no run is working or waiting now in {archive.path}; add --sync to look at the agents' own files first")


def _names(archive: Archive) -> dict[str, str]:
    try:
        with archive.reading() as reader:
            return short_ids(reader.index)
    except RunNotFound:  # no archive yet
        return {}


def _cells(run: RunInfo, now: float, names: dict[str, str]) -> tuple[object, ...]:
    last = milliseconds_of(run.ended_at or "")
    return (
        names.get(run.run_id, run.run_id),
        run.agent,
        cut(run.project or "", _WIDEST),
        run.status,
        when(run.started_at),
        "" if last is None else f"{duration(max(0.0, now - last / 1000))} ago",
        cut(run.status_reason or "", _WIDEST),
        cut(" ".join((run.title or "").split()), 2 * _WIDEST),
    )
