"""`steno restore`: the agent's own files of a run, byte for byte."""

from __future__ import annotations

import click

from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, json_option, print_json, root_option, write_text
from stenograph.render.control_chars import on_one_line
from stenograph.runs.archive import open_archive
from stenograph.runs.target import find_run


@click.command(
    "restore",
    epilog="Example: steno restore 550e84 /tmp/session",
)
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.argument("folder", metavar="DIR")
@click.option(
    "--version", type=click.IntRange(min=1), metavar="N", help="An older version of files that the agent rewrote."
)
@root_option
@archive_option
@json_option
def command(
    target: str, folder: str, version: int | None, root: str | None, archive_dir: str | None, as_json: bool
) -> None:
    """Write the agent's own files of a run, byte for byte as they were, below DIR.

    They come from the archive, so it does not matter whether the agent still has them. Existing files are not
    overwritten.
    """
    restore(target, folder, version, root=root, archive_dir=archive_dir, as_json=as_json)


def restore(
    target: str,
    folder: str,
    version: int | None,
    *,
    root: str | None = None,
    archive_dir: str | None = None,
    as_json: bool = False,
) -> None:
    """Restore the files and print their paths."""
    kind = find_run(target, root, archive_dir, archive_first=True)
    run_id = kind.run_id
    kind.close()
    with open_archive(archive_dir) as archive:
        written = archive.restore(run_id, folder, version=version)
    if as_json:
        print_json({"run_id": run_id, "files": [str(path) for path in written]})
    else:
        write_text("".join(f"{on_one_line(str(path))}\n" for path in written))
