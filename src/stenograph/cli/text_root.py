"""`--text-root`: where runs that were recorded are written as plain text, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from stenograph import config

F = TypeVar("F", bound=Callable[..., Any])


def text_root_option(command: F) -> F:
    """The option, given to the command as `text_root`; apart from the others, since `steno run` has no time to lose."""
    return click.option(
        "--text-root",
        default=lambda: config.value("archive.texts"),
        metavar="DIR",
        help="At the end, write the run as `steno text` does, too.  [default: $STENOGRAPH_TEXTS, else not]",
    )(command)
