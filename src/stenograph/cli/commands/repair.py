"""`steno repair`: move a torn tail out of a journal."""

from __future__ import annotations

import click

from stenograph.cli.completion import RUN
from stenograph.cli.options import json_option, print_json, root_option, write_text
from stenograph.journal.repair import repair_journal
from stenograph.render.control_chars import on_one_line
from stenograph.runs.opening import open_run


@click.command(
    "repair",
    epilog="Example: steno repair storage/transcripts/550e8400-e29b-41d4-a716-446655440000.jsonl",
)
@click.argument("target", type=RUN, metavar="RUN|PATH")
@root_option
@json_option
def command(target: str, root: str | None, as_json: bool) -> None:
    """Move an unfinished last line, as a crash or a full disk leaves it, to <journal>.torn, and report it.

    Complete lines are never touched. Recording does the same when it opens a journal.
    """
    with open_run(target, root=root) as run:
        repair = repair_journal(run.kind.journal())
    if as_json:
        print_json(repair)
        return
    path, aside = on_one_line(str(repair.path)), on_one_line(str(repair.aside))
    if repair.aside is None:
        write_text(f"{path}: nothing to repair, the last event is seq {repair.last_seq}\n")
    else:
        write_text(
            f"{path}: {repair.torn_bytes} bytes of an unfinished line set aside in {aside}; "
            f"the last event is seq {repair.last_seq}\n"
        )
