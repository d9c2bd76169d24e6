"""`steno ls`: the runs of the archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from msgspec import structs

from stenograph.cli.freshness import sync_option
from stenograph.cli.options import archive_option, say
from stenograph.cli.scope import prices_option, scope_options
from stenograph.cli.store import report_grep_period, store_options
from stenograph.cli.table import form_options, print_fitted, print_objects
from stenograph.cli.terminal import cut
from stenograph.query.runs import RunLine
from stenograph.query.short_ids import short_ids
from stenograph.render.figures import amount, cost, counted, duration, when
from stenograph.runs.archive import Archive, Filters, listed
from stenograph.runs.info import RunInfo, info_of_line

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive

SHOWN = 30
_PROMPT = 80
_ROOM_FOR_PROMPT = 20
_WIDEST_PROJECT = 24
_HEAD = ("run", "agent", "project", "when", "took", "turns", "tools", "tokens", "cost", "status", "first prompt")
_OPTIONAL = ("took", "turns", "tools", "project", "tokens", "agent", "status", "when")
"""Columns that a narrow terminal leaves out, in this order."""


def _of_store(archive: StoreArchive, filters: Filters, limit: int | None, prices: str | None, form: str | None) -> None:
    """List the runs of all machines in a store."""
    report_grep_period(filters)
    most = (None if form else SHOWN) if limit is None else limit or None
    found = archive.listed(most, prices, **filters)
    if form is not None:
        _print_fields(form, found.lines, found.infos)
    if found.total > len(found.lines):
        say(f"{len(found.lines):,} of {found.total:,} runs, --limit 0 for all")
    elif not found.lines:
        say(f"no run of {archive.url} matches")
    if form is None and found.lines:
        hosts = {info.run_id: info.host or "" for info in found.infos}
        _print(found.lines, found.names, hosts)


@click.command("ls", epilog="Example: steno ls --agent codex --since 7d")
@scope_options
@store_options(_of_store)
@click.option(
    "--limit", type=click.IntRange(min=0), metavar="N", help="Print at most N runs; 0 prints all.  [default: 30]"
)
@prices_option
@archive_option
@sync_option
@form_options
def command(filters: Filters, limit: int | None, prices: str | None, archive_dir: str | None, form: str | None) -> None:
    """List the runs of the archive, those with the newest events first.

    Tokens that several runs report, such as forks, count in the first of them. A narrow terminal shows fewer columns.
    --json and --csv print every run unless --limit is given.
    """
    most = (None if form else SHOWN) if limit is None else limit or None
    with Archive(archive_dir) as archive:
        runs, total = listed(archive, most, prices=prices, **filters)
        if form is not None:
            identity = archive.identity
            _print_fields(form, runs, [info_of_line(run, identity) for run in runs])
        with archive.reading() as reader:
            names = short_ids(reader.index)
    if total > len(runs):
        say(f"{len(runs):,} of {total:,} runs, --limit 0 for all")
    elif not runs:
        say(f"none of the {counted(len(names), 'run')} of {archive.path} matches")
    if form is None and runs:
        _print(runs, names)


def _print_fields(form: str, runs: Sequence[RunLine], infos: Sequence[RunInfo]) -> None:
    """Print all that is known of each run, as `json` or `csv`."""
    rows = ({**structs.asdict(run), **info.to_dict()} for run, info in zip(runs, infos, strict=True))
    print_objects(list(dict.fromkeys((*RunLine.__struct_fields__, *RunInfo.__struct_fields__))), rows, form)


def _print(runs: Sequence[RunLine], names: dict[str, str], hosts: dict[str, str] | None = None) -> None:
    head = _HEAD if hosts is None else ("run", "machine", *_HEAD[1:])
    rows = [_cells(run, names) for run in runs]
    if hosts is not None:
        rows = [(cells[0], hosts[run.run_id], *cells[1:]) for run, cells in zip(runs, rows, strict=True)]
    print_fitted(head, rows, _OPTIONAL, "first prompt", _ROOM_FOR_PROMPT)


def _cells(run: RunLine, names: dict[str, str]) -> Sequence[object]:
    prompt = " ".join((run.first_prompt or run.name or "").split())
    if run.parent_run_id is not None:
        prompt = f"↳ of {names.get(run.parent_run_id, run.parent_run_id)}: {prompt}"
    return (
        names[run.run_id],
        run.agent,
        cut(run.project or "", _WIDEST_PROJECT),
        when(run.ended_at),
        "" if run.duration_s is None else duration(run.duration_s),
        run.turns,
        run.tools,
        amount(run.input_tokens + run.output_tokens),
        cost(run.cost_usd, run.cost_is_partial),
        run.status,
        cut(prompt, _PROMPT),
    )
