"""The options that say where to look for agents' files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from stenograph.cli.completion import AGENT

F = TypeVar("F", bound=Callable[..., Any])
_HOME = "The home folder in which agents keep their files.  [default: yours]"
_AGENT = "Only this agent; may be repeated."
_PATH = "Look in this folder instead of the agents' own ones."


def sources_options(command: F) -> F:
    """`--home`, `--agent`, `--path`."""
    command = click.option("--path", "paths", multiple=True, metavar="DIR", help=_PATH)(command)
    command = click.option("--agent", "agents", multiple=True, type=AGENT, metavar="NAME", help=_AGENT)(command)
    return click.option("--home", metavar="DIR", help=_HOME)(command)
