"""`steno files`: what a run read and changed."""

from __future__ import annotations

import click
from msgspec import structs

from stenograph.cli.completion import RUN
from stenograph.cli.options import (
    archive_option,
    print_json,
    redact_option,
    report_masked,
    report_problems,
    root_option,
    say,
)
from stenograph.cli.table import form_options, print_csv, print_fitted
from stenograph.fold.files import FileUse, files
from stenograph.runs.opening import open_run

_HEAD = ("path", "reads", "changes", "lines", "kinds", "failed", "last")
_OPTIONAL = ("failed", "last", "kinds", "reads", "changes")
_ROOM_FOR_PATH = 20


@click.command("files", epilog="Example: steno files @ --changed")
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.option("--changed", is_flag=True, help="Only files that it changed.")
@redact_option
@root_option
@archive_option
@form_options
def command(
    target: str, changed: bool, redact: bool, root: str | None, archive_dir: str | None, form: str | None
) -> None:
    """List the files that the calls of a run read, searched and changed, in the order of the first call.

    Shell commands are not listed: their text does not say which files they change.
    """
    with open_run(target, root=root, archive=archive_dir, redact=redact) as run:
        found = [each for each in files(run.events(keep_raw=False)) if each.changes or not changed]
        if form == "json":
            print_json(found)
        elif form == "csv":
            print_csv(FileUse.__struct_fields__, map(structs.asdict, found))
        elif found:
            print_fitted(_HEAD, [_cells(each) for each in found], _OPTIONAL, "path", _ROOM_FOR_PATH)
        else:
            what = "changed a file" if changed else "named a file"
            say(f"none of the {run.info.tool_calls} calls of {run.info.run_id} {what}")
        report_problems(run.problems())
        if redact:
            report_masked(run.masked)


def _cells(each: FileUse) -> tuple[object, ...]:
    lines = f"+{each.added} -{each.removed}" if each.changes else ""
    return each.path, each.reads, each.changes, lines, ", ".join(each.kinds), each.failed, f"#{each.last_seq}"
