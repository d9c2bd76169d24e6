"""`steno watch`: keep the archive up to date until interrupted."""

from __future__ import annotations

import signal
import threading
from datetime import datetime

import click

from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.watching import watch
from stenograph.archive.store.home import home_of
from stenograph.cli.commands.sync import summary_text
from stenograph.cli.options import (
    archive_option,
    json_option,
    retention_option,
    say,
    write_bytes,
    write_text,
)
from stenograph.cli.sources import sources_options
from stenograph.evidence.after_sync import checkpoint_after
from stenograph.runs.archive import open_archive
from stenograph.runs.attention import Attention, notify
from stenograph.runs.retention import Retention
from stenograph.runs.syncing import wanted_roots


@click.command(
    "watch",
    epilog="Example: steno watch --agent claude",
    short_help="Keep the archive up to date until interrupted.",
)
@sources_options
@click.option(
    "--notify",
    "on_need",
    metavar="COMMAND",
    help="Run this when a run begins to wait or fails; it knows $STENO_RUN_ID.",
)
@retention_option
@archive_option
@json_option
def command(
    home: str | None,
    agents: tuple[str, ...],
    paths: tuple[str, ...],
    on_need: str | None,
    retention: bool,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Do what `steno sync` does as soon as an agent writes, until Ctrl-C.

    One process watches an archive at a time. It may be killed and started again at any moment: nothing that was kept is
    lost, and the next one goes on where it was.
    """
    archive = home_of(archive_dir)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    attention = Attention()

    def tell_of_need(command: str) -> None:
        with open_archive(archive.path) as opened:
            needy = attention.begun(opened)
        for run in needy:
            if (problem := notify(command, run)) is not None:
                say(problem)

    expiry = Retention(archive) if retention else None

    def tell(summary: Summary) -> None:
        if expiry is not None:
            expiry.after(summary)
        if not (home or agents or paths):
            archive.note_sync()
        checkpoint_after(archive, summary)
        if as_json:
            import msgspec

            write_bytes(msgspec.json.encode(summary) + b"\n")
        elif summary.events or summary.failed or summary.new or summary.rebuilt or summary.expired:
            write_text(f"{datetime.now().astimezone():%H:%M:%S} {summary_text(summary, archive.path)}")
        for problem in summary.problems:
            say(problem)
        if on_need is not None:
            tell_of_need(on_need)

    wanted_roots(archive, home, agents, paths)  # a mistake is told before we begin
    say(f"watching for {archive.path}; Ctrl-C ends it")
    watch(archive, lambda: wanted_roots(archive, home, agents, paths, are_there=False), stop, tell)
