"""How fresh the archive is: `--sync`, and a line on a terminal that says how old the last sync is.

A command that reads looks at the time of one file and at one lock, never at the agents' folders: that would take longer
than the command itself.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from stenograph.archive.store.home import Home, home_of
from stenograph.cli.terminal import say
from stenograph.render.figures import duration


def sync_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--sync` for a command with `--archive`: bring the archive up to date first."""

    @wraps(command)
    def fresh(*, sync_first: bool, archive_dir: str | None, **options: Any) -> Any:
        home = home_of(archive_dir)
        if sync_first:
            _sync(home)
        try:
            result = command(archive_dir=archive_dir, **options)
        except click.exceptions.Exit as ended:
            if ended.exit_code <= 1 and not sync_first:
                _print_age(home, options)
            raise
        if not sync_first:
            _print_age(home, options)
        return result

    return click.option("--sync", "sync_first", is_flag=True, help="Bring the archive up to date first.")(fresh)


def _sync(home: Home) -> None:
    from stenograph.cli.progress import Progress
    from stenograph.runs.archive import open_archive

    with Progress("session") as sessions, Progress("indexing what is kept", in_bytes=True) as indexing:
        summary = open_archive(home.path).sync(sessions.reach, indexing=indexing.add)
    for problem in summary.problems:
        say(problem)


def _print_age(home: Home, options: dict[str, Any]) -> None:
    if not (sys.stdout.isatty() and sys.stderr.isatty()) or options.get("as_json") or options.get("form"):
        return
    if (age := age_of_sync(home)) is not None:
        say(age)


def age_of_sync(home: Home, now: float | None = None) -> str | None:
    """How old the last sync is, in words; None while `steno watch` keeps the archive up to date."""
    if _is_watched(home):
        return None
    synced_at = home.synced_at()
    if synced_at is None:
        return "the agents of this machine are not synced yet; add --sync to do it"
    seconds = max(0.0, (time.time() if now is None else now) - synced_at)
    return f"last sync {duration(seconds)} ago; add --sync to bring the archive up to date"


def _is_watched(home: Home) -> bool:
    try:
        fd = os.open(home.watch_lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False
