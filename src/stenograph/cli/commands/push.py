"""`steno push`: send the archive to an object store."""

from __future__ import annotations

import sys

import click

from stenograph.archive.store.home import home_of
from stenograph.cli.options import archive_option, json_option, print_json, say, write_text
from stenograph.cli.progress import Progress
from stenograph.errors import StoreError
from stenograph.fleet.store.objects import open_store
from stenograph.fleet.store.push import Pushed, push


@click.command(
    "push",
    epilog="Example: steno push file:///mnt/shared/steno",
)
@click.argument("url", metavar="URL")
@click.option("--events-only", is_flag=True, help="Send events with their secrets masked, and no kept files.")
@click.option("--dry-run", is_flag=True, help="Only print how much would be sent.")
@archive_option
@json_option
def command(url: str, events_only: bool, dry_run: bool, archive_dir: str | None, as_json: bool) -> None:
    """Send what is new in the archive to the store at URL: file:///folder, s3://, gs:// or az://.

    Kept files and journals are sent byte for byte, so that steno pull can bring the archive back, and so are the
    numbered events. Nothing in the store is ever overwritten. You may interrupt it at any moment; the next push
    continues.
    """
    store = open_store(url)
    behind = 0

    def reach(done: int, of: int) -> None:
        nonlocal behind
        behind = of - done
        shown.reach(done, of)

    with Progress("sent", in_bytes=True, is_shown=sys.stderr.isatty() and not as_json) as shown:
        try:
            pushed = push(home_of(archive_dir), store, events_only=events_only, dry_run=dry_run, progress=reach)
        except StoreError:
            if behind:
                say(f"{behind:,} bytes are not sent yet; the next steno push sends them")
            raise
    report_push(pushed, url, dry_run=dry_run)
    if as_json:
        print_json(
            {"url": url, "dry_run": dry_run, **{name: getattr(pushed, name) for name in pushed.__struct_fields__}}
        )
    else:
        write_text(f"{push_text(pushed, dry_run=dry_run)}\n")


def report_push(pushed: Pushed, url: str, *, dry_run: bool = False) -> None:
    """Print what a push found in the store that changes this archive."""
    if pushed.forgotten:
        does = "would be" if dry_run else "were"
        say(f"{len(pushed.forgotten)} runs {does} removed here, because they were forgotten in {url}")
    if pushed.why is not None:
        say(_fork_text(pushed, url))


def push_text(pushed: Pushed, *, dry_run: bool = False) -> str:
    """What a push did, for people."""
    if dry_run:
        return f"{pushed.behind:,} bytes of archive {pushed.archive} are not in the store"
    sent = f"sent {pushed.events:,} events and {pushed.bytes:,} bytes of archive {pushed.archive}"
    return sent if pushed.objects else f"archive {pushed.archive} is up to date in the store"


def _fork_text(pushed: Pushed, url: str) -> str:
    if pushed.continues is None:
        return f"{url} has another history of archive {pushed.archive}: {pushed.why}; steno push will use a new id"
    return (
        f"{url} has another history of archive {pushed.continues}: {pushed.why}; this archive is {pushed.archive} from "
        "now on, which continues it (a key that signs it: steno evidence init)"
    )
