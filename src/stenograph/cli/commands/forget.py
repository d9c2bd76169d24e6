"""`steno forget`: remove runs from the archive for good."""

from __future__ import annotations

import getpass
import socket
import sys

import click

from stenograph.archive.keep.summary import Summary
from stenograph.archive.store.home import Home, home_of
from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, json_option, print_json, say, write_text
from stenograph.clock import utc_now
from stenograph.errors import StoreError
from stenograph.evidence.after_sync import checkpoint_after
from stenograph.fleet.store.forgetting import not_here
from stenograph.fleet.store.objects import Objects, open_store
from stenograph.fleet.store.tombstones import Tombstone, archives_to_tell, write_tombstones
from stenograph.render.control_chars import on_one_line
from stenograph.runs.forgetting import LONGEST_REASON, Plan, Wanted, forget_runs, plan_of

_UNREACHED = (
    "not removed: headers of frames (paths, ids, times, digests), bundles and pages made of these runs, backups, "
    "and old blocks of the disk"
)
_LATER = (
    "later: other machines remove these runs when they push next, and steno lake compact erases them from the store; "
    "versions and backups that the store keeps are not removed"
)


@click.command(
    "forget",
    epilog="Example: steno forget 550e84 --why 'a customer asked for it'",
)
@click.argument("runs", type=RUN, metavar="RUN...", nargs=-1)
@click.option("--containing", metavar="TEXT", help="Runs whose kept files contain this text.")
@click.option("--older-than", metavar="TIME", help="Runs whose last event is older: 90d, or a day.")
@click.option("--why", default="", metavar="TEXT", help="The reason, which stays in the archive.")
@click.option("--with-copies", is_flag=True, help="Also forget the runs that hold copies, and the runs they called.")
@click.option("--also-source", is_flag=True, help="Also delete the agents' own files of these runs.")
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--store", "url", metavar="URL", help="Also remove them from every archive in this store; see steno push."
)
@archive_option
@json_option
def command(
    runs: tuple[str, ...],
    containing: str | None,
    older_than: str | None,
    why: str,
    with_copies: bool,
    also_source: bool,
    dry_run: bool,
    yes: bool,
    url: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Remove runs from the archive for good: kept files, index, full text and journals.

    A note of the removal stays (when, by whom and why), and the next sync does not bring them back. Frame headers with
    paths and ids stay, too, so checkpoints stay valid. Exit code 1 when no run matches.
    """
    if not runs and not containing and older_than is None:
        raise click.UsageError("name a RUN, or give --containing or --older-than")
    home = home_of(archive_dir)
    store = None if url is None else open_store(url)
    wanted = Wanted(run_ids=runs, containing=containing or None, older_than=older_than, with_copies=with_copies)
    elsewhere, wanted = ((), wanted) if store is None else not_here(home, wanted)
    is_here = wanted.run_ids or wanted.containing or wanted.older_than
    plan = plan_of(home, wanted) if is_here else Plan(run_ids=(), copies={}, sources=(), bytes=0)
    if not as_json:
        write_text(_text(plan, elsewhere, also_source=also_source))
    meant = (*plan.run_ids, *elsewhere)
    is_done = bool(meant) and not dry_run
    informed: list[str] = []
    if is_done:
        if not yes:
            _ask(plan, elsewhere, also_source=also_source)
        by, at = f"{_user()}@{socket.gethostname()}", utc_now()
        if store is not None:
            informed = _inform(
                home, store, [Tombstone(run_id=each, at=at, by=by, why=why[:LONGEST_REASON]) for each in meant]
            )
        if plan.run_ids:
            _forget(home, plan, why=why, by=by, at=at, also_source=also_source)
    if as_json:
        more = {} if store is None else {"elsewhere": elsewhere, "told": informed}
        print_json({"forgotten": is_done, **{name: getattr(plan, name) for name in plan.__struct_fields__}, **more})
    elif is_done:
        write_text(f"forgot {len(plan.run_ids)} runs, {plan.bytes:,} bytes\n")
        if store is not None:
            write_text(f"informed {len(informed)} archives in {store.url}\n")
    if is_done:
        say(_UNREACHED)
        if store is not None:
            say(_LATER)
    if not meant:
        say("no run matches; nothing was removed")
        raise click.exceptions.Exit(1)


def _forget(home: Home, plan: Plan, *, why: str, by: str, at: str, also_source: bool) -> None:
    forget_runs(home, plan, why=why, by=by, at=at, also_source=also_source)
    summary = Summary(expired=len(plan.run_ids))
    checkpoint_after(home, summary)
    for problem in summary.problems:
        say(problem)


def _inform(home: Home, store: Objects, tombstones: list[Tombstone]) -> list[str]:
    """Put tombstones into the archives of a store; returns the archives."""
    identity = home.identity()
    archives, are_all = archives_to_tell(store, None if identity is None else identity.id)
    if not are_all:
        say(f"the archives in {store.url} cannot be listed from here; only this one is informed")
    problems = write_tombstones(store, archives, tombstones)
    for problem in problems.values():
        say(str(problem))
    if problems:
        raise click.exceptions.Exit(StoreError.exit_code)
    return archives


def _text(plan: Plan, elsewhere: tuple[str, ...], *, also_source: bool) -> str:
    lines = [f"run {run_id}" for run_id in plan.run_ids]
    lines += [f"run {run_id} (not in this archive)" for run_id in elsewhere]
    for run_id, count in plan.copies.items():
        what = f"holds {count} of the same messages" if count else "was called by one of these"
        lines.append(f"run {run_id} {what} and stays (--with-copies)")
    stays = "is also deleted" if also_source else "stays (--also-source)"
    lines += [f"file {path} {stays}" for path in plan.sources]
    return "".join(f"{on_one_line(line)}\n" for line in lines)


def _ask(plan: Plan, elsewhere: tuple[str, ...], *, also_source: bool) -> None:
    files = f" and delete {len(plan.sources)} files of agents" if also_source and plan.sources else ""
    if not sys.stdin.isatty():
        raise click.UsageError("this cannot be undone; add --yes to do it, or --dry-run to see what would be removed")
    click.confirm(f"Remove {len(plan.run_ids) + len(elsewhere)} runs for good{files}?", abort=True, err=True)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
