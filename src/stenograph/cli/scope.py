"""The options that say which runs of the archive are meant."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from stenograph.query.language import parse_query
from stenograph.query.period import period_of
from stenograph.query.scope import Scope

_OPTIONS = (
    click.option("--agent", metavar="NAME", help="Only runs of this agent: claude, codex, gemini, …"),
    click.option("--project", metavar="NAME", help="Only this project: a part of its name, or a folder."),
    click.option("--since", metavar="TIME", help="Not before: 2026-11-01, 7d, 24h, yesterday …"),
    click.option("--until", metavar="TIME", help="Not after; a day counts whole."),
    click.option("--grep", metavar="QUERY", help="Only runs in which this is found; as in steno search."),
)


def scope_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--agent`, `--project`, `--since`, `--until` and `--grep`, given to the command as one `scope`."""

    @wraps(command)
    def with_scope(
        *, agent: str | None, project: str | None, since: str | None, until: str | None, grep: str | None, **others: Any
    ) -> Any:
        query = None if grep is None else parse_query(grep)
        scope = Scope(agent=agent, project=project, period=period_of(since, until), grep=query)
        return command(scope=scope, **others)

    decorated: Callable[..., Any] = with_scope
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def prices_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--prices`: a table of one's own."""
    return click.option(
        "--prices", metavar="FILE", help="Prices of your own over the ones shipped.  [default: $STENOGRAPH_PRICES]"
    )(command)
