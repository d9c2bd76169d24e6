"""The options that select runs of the archive."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from stenograph.cli.completion import AGENT
from stenograph.query.scope import STATUSES
from stenograph.runs.archive import Filters

_OPTIONS = (
    click.option("--agent", type=AGENT, metavar="NAME", help="Only runs of this agent: claude, codex, gemini, …"),
    click.option("--project", metavar="NAME", help="Only this project: a part of its name, or a folder."),
    click.option("--since", metavar="TIME", help="Not before: 2026-11-01, 7d, 24h, yesterday …"),
    click.option("--until", metavar="TIME", help="Not after; a day counts whole."),
    click.option("--status", type=click.Choice(STATUSES), help="Only runs of this status."),
    click.option("--model", metavar="NAME", help="Only runs that used this model last; its beginning is enough."),
    click.option("--tag", metavar="NAME", help="Only runs with this tag, as set in steno serve."),
    click.option("--starred", is_flag=True, help="Only runs with a star, as set in steno serve."),
    click.option("--grep", metavar="QUERY", help="Only runs that match this; syntax as in steno search."),
)


def scope_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options above, given to the command as one `filters`, as the methods of `Archive` take them."""

    @wraps(command)
    def with_filters(**options: Any) -> Any:
        filters = Filters(**{name: options.pop(name) for name in Filters.__annotations__ if name in options})  # type: ignore[typeddict-item]
        return command(filters=filters, **options)

    decorated: Callable[..., Any] = with_filters
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def prices_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--prices`: the user's own price table."""
    return click.option(
        "--prices",
        metavar="FILE",
        help="Your own prices, which override the shipped ones.  [default: $STENOGRAPH_PRICES]",
    )(command)
