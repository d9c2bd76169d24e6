"""`steno tail`: the events of a run, and those to come."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import click

from stenograph.cli.options import json_option, root_option, tell_of_journal_flaws, wants_color, write_bytes, write_text
from stenograph.journal.follow import follow
from stenograph.journal.place import expected_journal, find_journal
from stenograph.journal.reader import read_events
from stenograph.model import Event
from stenograph.render.terminal import TerminalRenderer


@click.command(
    "tail",
    epilog="Example: steno tail -f 550e84 --from 100 --json",
    short_help="Print the events of a run, and go on as they come.",
)
@click.argument("target", metavar="RUN|PATH")
@click.option(
    "-f",
    "--follow",
    "following",
    is_flag=True,
    help="Go on as events come, until interrupted; waits for a journal that does not exist yet.",
)
@click.option(
    "--from",
    "from_seq",
    type=click.IntRange(min=1),
    default=1,
    metavar="SEQ",
    help="Begin with this event.  [default: 1]",
)
@click.option("-n", "--last", type=click.IntRange(min=1), metavar="N", help="Only the last N events (not with -f).")
@click.option("--full", is_flag=True, help="Show long tool outputs whole.")
@root_option
@json_option
def command(
    target: str, following: bool, from_seq: int, last: int | None, full: bool, root: str, as_json: bool
) -> None:
    """Print the events of a run in order, one by one; with -f also those that another process is still writing.

    --json prints JSON Lines: each event as it stands in the journal.
    """
    if following and last is not None:
        raise click.UsageError("-n does not go with -f; use --from SEQ")
    renderer = TerminalRenderer(color=wants_color(), full=full)
    if following:
        for event, line in follow(expected_journal(target, root), from_seq).with_lines():
            write_bytes(line + b"\n") if as_json else write_text(renderer.render(event))
        return
    journal = read_events(find_journal(target, root))
    lines: Iterable[tuple[Event, bytes]] = ((event, journal.line) for event in journal if event.seq >= from_seq)
    for event, line in lines if last is None else deque(lines, last):
        write_bytes(line + b"\n") if as_json else write_text(renderer.render(event))
    tell_of_journal_flaws(journal, "not shown: they have no number")
