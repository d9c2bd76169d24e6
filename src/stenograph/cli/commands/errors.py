"""`steno errors`: what failed in a run."""

from __future__ import annotations

import sys

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
from stenograph.cli.terminal import cut
from stenograph.fold.failures import FailedStep, failures
from stenograph.render.figures import local_clock
from stenograph.runs.opening import open_run

_HEAD = ("event", "time", "who", "tool", "exit", "what", "why")
_OPTIONAL = ("who", "exit", "time", "what", "tool")
_WIDEST = 60
_LONGEST = 500
_ROOM_FOR_REASON = 24


@click.command("errors", epilog="Example: steno errors @")
@click.argument("target", type=RUN, metavar="RUN|PATH")
@redact_option
@root_option
@archive_option
@form_options
@click.pass_context
def command(
    ctx: click.Context, target: str, redact: bool, root: str | None, archive_dir: str | None, form: str | None
) -> None:
    """List the failed calls and the errors of a run, in order, with what was tried and why it failed.

    steno show RUN --from EVENT opens the transcript at that event. Exit code 1 when something failed.
    """
    with open_run(target, root=root, archive=archive_dir, redact=redact) as run:
        found = failures(run.events(keep_raw=False))
        if form == "json":
            print_json(found)
        elif form == "csv":
            print_csv(FailedStep.__struct_fields__, map(structs.asdict, found))
        elif found:
            print_fitted(_HEAD, [_cells(each) for each in found], _OPTIONAL, "why", _ROOM_FOR_REASON)
        else:
            say(f"nothing failed in {run.info.run_id}; {run.info.tool_calls} calls were checked")
        report_problems(run.problems())
        if redact:
            report_masked(run.masked)
    ctx.exit(1 if found else 0)


def _cells(each: FailedStep) -> tuple[object, ...]:
    most = _WIDEST if sys.stdout.isatty() else _LONGEST
    return (
        each.seq,
        local_clock(each.timestamp),
        each.source,
        each.tool or "",
        "" if each.exit_code is None else each.exit_code,
        cut(" ".join(each.target.split()), most),
        cut(" ".join(each.message.split()), 2 * most),
    )
