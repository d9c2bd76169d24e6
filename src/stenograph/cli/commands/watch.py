"""`steno watch`: keep the archive up to date until interrupted."""

from __future__ import annotations

import signal
import threading
import time
from datetime import datetime
from typing import TYPE_CHECKING

import click
import msgspec

from stenograph.archive.keep.summary import Summary
from stenograph.archive.keep.watching import watch
from stenograph.archive.store.home import Home, home_of
from stenograph.cli.commands.push import push_text, report_push
from stenograph.cli.commands.sync import summary_text
from stenograph.cli.options import (
    archive_option,
    header_option,
    json_option,
    retention_option,
    say,
    write_bytes,
    write_text,
)
from stenograph.cli.sources import sources_options
from stenograph.evidence.after_sync import checkpoint_after
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import Pushed
from stenograph.fleet.store.pushing import Pushing
from stenograph.runs.archive import open_archive
from stenograph.runs.attention import Attention, notify
from stenograph.runs.retention import Retention
from stenograph.runs.syncing import wanted_roots

if TYPE_CHECKING:
    from stenograph.export.feeding.feeder import Feeder


@click.command(
    "watch",
    epilog="Example: steno watch --agent claude",
)
@sources_options
@click.option(
    "--notify",
    "on_need",
    metavar="COMMAND",
    help="Run this command when a run begins to wait or fails; $STENO_RUN_ID names the run.",
)
@click.option("--otlp", "endpoint", metavar="URL", help="Send runs to this collector as they grow.")
@header_option
@click.option(
    "--content", metavar="WORD", help="With --otlp: how much of the conversation each span holds: delta, full or none."
)
@click.option("--vocabulary", metavar="WORD", help="With --otlp: attribute names: genai or openinference.")
@click.option("--redact", is_flag=True, help="With --otlp: mask secrets in what is sent.")
@click.option("--push", "url", metavar="URL", help="Also send what is new to this store; see steno push.")
@click.option("--events-only", is_flag=True, help="With --push: send masked events, and no kept files.")
@retention_option
@archive_option
@json_option
def command(
    home: str | None,
    agents: tuple[str, ...],
    paths: tuple[str, ...],
    on_need: str | None,
    endpoint: str | None,
    headers: tuple[str, ...],
    content: str | None,
    vocabulary: str | None,
    redact: bool,
    url: str | None,
    events_only: bool,
    retention: bool,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Do what `steno sync` does as soon as an agent writes, until Ctrl-C.

    One process watches an archive at a time. You may kill and restart it at any moment: nothing that was kept is lost,
    and the next one continues.
    """
    if events_only and url is None:
        raise click.UsageError("--events-only needs --push URL")
    archive = home_of(archive_dir)
    if endpoint is None and (headers or content or vocabulary or redact):
        raise click.UsageError("--header, --content, --vocabulary and --redact need --otlp URL")
    options = {name: word for name, word in (("content", content), ("vocabulary", vocabulary)) if word is not None}
    feeder = None if endpoint is None else _feeder(archive, endpoint, headers, options, redact, as_json)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    attention = Attention()

    def notify_need(command: str) -> None:
        with open_archive(archive.path) as opened:
            needy = attention.begun(opened)
        for run in needy:
            if (problem := notify(command, run)) is not None:
                say(problem)

    expiry = Retention(archive) if retention else None
    pushing = None if url is None else _pushing(archive, url, events_only=events_only, as_json=as_json)

    def on_sync(summary: Summary) -> None:
        if expiry is not None:
            expiry.after(summary)
        if not (home or agents or paths):
            archive.note_sync()
        checkpoint_after(archive, summary)
        if feeder is not None:
            feeder.changed()
        if as_json:
            write_bytes(msgspec.json.encode(summary) + b"\n")
        elif summary.events or summary.failed or summary.new or summary.rebuilt or summary.expired:
            write_text(f"{datetime.now().astimezone():%H:%M:%S} {summary_text(summary, archive.path)}")
        for problem in summary.problems:
            say(problem)
        if pushing is not None:
            pushing.note()
        if on_need is not None:
            notify_need(on_need)

    wanted_roots(archive, home, agents, paths)  # a mistake in the options is reported before we begin
    say(f"watching for {archive.path}; press Ctrl-C to stop")
    try:
        if feeder is not None:
            feeder.begin()
        watch(archive, lambda: wanted_roots(archive, home, agents, paths, existing_only=False), stop, on_sync)
    finally:
        if feeder is not None:
            feeder.close()
        if pushing is not None and not pushing.stop():
            say(f"not everything is in {url} yet; the next steno push sends the rest")


def _feeder(
    archive: Home, endpoint: str, headers: tuple[str, ...], options: dict[str, str], redact: bool, is_quiet: bool
) -> Feeder:
    """What sends to a collector; mistakes in the options raise before anything begins."""
    from stenograph.export.collector import collector_of
    from stenograph.export.exporter import exporter_named
    from stenograph.export.feeding.feed import FeedSetting
    from stenograph.export.feeding.feeder import Feeder

    setting = FeedSetting(
        archive=str(archive.path),
        collector=collector_of(endpoint, headers),
        is_redacted=redact,
        began_ms=time.time_ns() // 1_000_000,
        is_quiet=is_quiet,
        **exporter_named("otlp").chosen(options),
    )
    return Feeder(setting, say)


def _pushing(archive: Home, url: str, *, events_only: bool, as_json: bool) -> Pushing:
    """What sends the archive in the background, and reports each push as the watch reports a sync."""

    def on_push(pushed: Pushed) -> None:
        report_push(pushed, url)
        if as_json:
            write_bytes(msgspec.json.encode({"pushed": pushed}) + b"\n")
        elif pushed.objects:
            write_text(f"{datetime.now().astimezone():%H:%M:%S} {push_text(pushed)}\n")

    return Pushing(archive, open_store(url), events_only=events_only, on_push=on_push, failed=say)
