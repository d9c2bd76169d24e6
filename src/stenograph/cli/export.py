"""`steno export --raw`: the old spelling of `steno restore`."""

from __future__ import annotations

import click

from stenograph.cli.options import json_option, say
from stenograph.cli.restore import restore


@click.command(
    "export",
    epilog="Example: steno export 550e84 --raw /tmp/session",
    short_help="The old spelling of steno restore.",
)
@click.argument("run", metavar="RUN")
@click.option("--raw", "folder", required=True, metavar="DIR", help="Where to write the agent's files, byte for byte.")
@click.option("--version", type=click.IntRange(min=1), metavar="N", help="An older version of files written anew.")
@json_option
def command(run: str, folder: str, version: int | None, as_json: bool) -> None:
    """Write the agent's own files of a run below DIR. This is the old spelling of: steno restore RUN DIR."""
    say(f"export --raw is the old spelling; use: steno restore {run} {folder}")
    restore(run, folder, version, as_json=as_json)
