"""`steno tail`: the events of a run, and new ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from stenograph.cli.completion import RUN
from stenograph.cli.options import (
    archive_option,
    json_option,
    redact_option,
    report_masked,
    report_problems,
    root_option,
    say,
    wants_color,
    write_bytes,
    write_text,
)
from stenograph.cli.store import store_options
from stenograph.model import Event
from stenograph.render.terminal import TerminalRenderer
from stenograph.runs.opening import reader_of
from stenograph.runs.reader import RunReader
from stenograph.runs.target import find_growing, find_run

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive


def _of_store(
    archive: StoreArchive,
    target: str,
    following: bool,
    from_seq: int,
    last: int | None,
    full: bool,
    redact: bool,
    as_json: bool,
) -> None:
    """Follow a run of any machine in a store; what its host pushes appears some seconds later."""
    _print(lambda: archive.run(target, redact=redact), following, from_seq, last, full, redact, as_json)


@click.command(
    "tail",
    epilog="Example: steno tail -f 550e84 --from 100 --json",
)
@store_options(_of_store)
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.option(
    "-f",
    "--follow",
    "following",
    is_flag=True,
    help="Follow new events until interrupted; waits for a journal that does not exist yet.",
)
@click.option(
    "--from",
    "from_seq",
    type=click.IntRange(min=1),
    default=1,
    metavar="SEQ",
    help="Begin with this event.  [default: 1]",
)
@click.option(
    "-n", "--last", type=click.IntRange(min=1), metavar="N", help="Print only the last N events (not with -f)."
)
@click.option("--full", is_flag=True, help="Do not shorten long tool outputs.")
@redact_option
@root_option
@archive_option
@json_option
def command(
    target: str,
    following: bool,
    from_seq: int,
    last: int | None,
    full: bool,
    redact: bool,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Print the events of a run in order; with -f also those that another process is still writing.

    An agent's own file is followed with its subagents, and a run of the archive as steno watch adds to it.
    With --store, a run of any machine is followed as its host pushes it; the store is checked every five seconds.
    --json prints JSON Lines: each event as it is in the journal.
    """
    _print(
        lambda: reader_of(
            find_growing(target, root, archive_dir)
            if following
            else find_run(target, root, archive_dir, archive_first=from_seq > 1),
            redact,
        ),
        following,
        from_seq,
        last,
        full,
        redact,
        as_json,
    )


def _print(
    opened: Callable[[], RunReader],
    following: bool,
    from_seq: int,
    last: int | None,
    full: bool,
    redact: bool,
    as_json: bool,
) -> None:
    if following and last is not None:
        raise click.UsageError("-n cannot be used with -f; use --from SEQ")
    renderer = TerminalRenderer(color=wants_color(), full=full)

    def write(lines: Iterable[tuple[Event, bytes]]) -> int:
        number = 0
        for event, line in lines:
            write_bytes(line + b"\n") if as_json else write_text(renderer.render(event))
            number += 1
        return number

    with opened() as run:
        if following:
            write(run.follow(from_seq, on_problem=lambda error: say(str(error))).with_lines())
            return
        lines = run.lines(from_seq)
        if not write(lines if last is None else deque(lines, last)):
            say(f"{run.kind.place} has no events from number {from_seq} on")
        report_problems(run.problems())
        if redact:
            report_masked(run.masked)
