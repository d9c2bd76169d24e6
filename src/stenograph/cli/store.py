"""`--store`: run a query over all machines' runs in a store."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from stenograph.cli.options import say
from stenograph.runs.archive import Filters

F = TypeVar("F", bound=Callable[..., Any])
_OF_THIS_MACHINE = {"archive_dir": "--archive", "sync_first": "--sync", "root": "--root"}


def report_grep_period(filters: Filters) -> None:
    """Report which period of a store was searched, if the user gave none."""
    if filters.get("grep") is not None and not filters.get("since"):
        say("--grep looks at the last 7 days of a store; --since says otherwise")


def store_options(answer: Callable[..., Any]) -> Callable[[F], F]:
    """`--store`, `--machine`, `--user` and `--team` for a command that reads an archive.

    With `--store`, `answer` is called instead of the command, with the store's archive and the command's other
    options. Apply it above all options that select an archive of this machine.
    """

    def add(command: F) -> F:
        @wraps(command)
        def asked(
            *, store_url: str | None, machine: str | None, user: str | None, team: str | None, **options: Any
        ) -> Any:
            if store_url is None:
                if machine or user or team:
                    raise click.UsageError("--machine, --user and --team need --store URL")
                return command(**options)
            for name, spelling in _OF_THIS_MACHINE.items():
                if options.pop(name, None):
                    raise click.UsageError(f"{spelling} is about this machine and cannot be used with --store")
            from stenograph.fleet.opening import open_archive

            with open_archive(store=store_url, machine=machine, user=user, team=team) as archive:
                return answer(archive, **options)

        decorated: Any = asked
        for option in (
            click.option("--team", metavar="NAME", help="With --store: only runs of this team's archives."),
            click.option("--user", metavar="NAME", help="With --store: only runs of this user's archives."),
            click.option("--machine", metavar="NAME", help="With --store: only runs of this machine."),
            click.option(
                "--store",
                "store_url",
                metavar="URL",
                help="Query the runs of all machines in this store (needs steno lake load).",
            ),
        ):
            decorated = option(decorated)
        result: F = decorated
        return result

    return add
