"""`steno export`: a run of the archive as the agent's own files."""

from __future__ import annotations

from pathlib import Path

import click

from stenograph.archive.originals import give_back
from stenograph.cli.archive import open_archive
from stenograph.cli.options import json_option, print_json, write_text
from stenograph.render.visible import on_one_line


@click.command(
    "export",
    epilog="Example: steno export 550e84 --raw /tmp/session",
    short_help="Give back the agent's own files of a run.",
)
@click.argument("run", metavar="RUN")
@click.option("--raw", "folder", required=True, metavar="DIR", help="Where to write the agent's files, byte for byte.")
@click.option("--version", type=click.IntRange(min=1), metavar="N", help="An older version of files written anew.")
@json_option
def command(run: str, folder: str, version: int | None, as_json: bool) -> None:
    """Write the agent's own files of a run, byte for byte as they were, below DIR.

    They come from the archive, so it does not matter whether the agent still has them. Nothing is written over.
    """
    with open_archive() as archive:
        _, run_id = archive.find_run(run)
        written = give_back(archive, run_id, Path(folder), version)
    if as_json:
        print_json({"run_id": run_id, "files": [str(path) for path in written]})
    else:
        write_text("".join(f"{on_one_line(str(path))}\n" for path in written))
