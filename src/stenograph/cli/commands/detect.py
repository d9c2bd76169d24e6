"""`steno detect`: the format of a file."""

from __future__ import annotations

from pathlib import Path

import click

from stenograph.cli.options import json_option, print_json, say, write_text
from stenograph.errors import SourceError
from stenograph.render.control_chars import on_one_line
from stenograph.sources.detection import Detection, detect_file
from stenograph.sources.stored import runs_of


@click.command("detect", epilog="Example: steno detect session.jsonl")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@json_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], as_json: bool) -> None:
    """Print the format of each file and the run it holds.

    Exit code 1 when the format of a file is unknown, 3 when a file cannot be read.
    """
    code = 0
    rows = []
    for path in paths:
        try:
            found = detect_file(Path(path))
        except SourceError as error:
            say(str(error))
            code = error.exit_code
            continue
        name = None if found.spec is None else found.spec.name
        code = code or (0 if name else 1)
        rows.append(
            {
                "path": path,
                "format": name,
                "run_id": _run_id(found),
                "source": found.identity.source if name else None,
            }
        )
        if not as_json:
            write_text(f"{on_one_line(path)}: {name or 'unknown'}\n")
    if as_json:
        print_json(rows)
    ctx.exit(code)


def _run_id(found: Detection) -> str | None:
    """The run that a file holds; None when it holds several."""
    if found.spec is None:
        return None
    run_id, *others = [*runs_of(found).values(), None]
    return run_id if len(others) == 1 else None
