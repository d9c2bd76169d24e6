"""`steno verify`: check that runs are complete and intact."""

from __future__ import annotations

import click

from stenograph.cli.check_all import check_all
from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, json_option, print_json, root_option, write_text
from stenograph.render.control_chars import visible
from stenograph.runs.kind import Verified
from stenograph.runs.opening import open_run


@click.command(
    "verify",
    epilog="Example: steno verify storage/transcripts/*.jsonl",
)
@click.argument("targets", type=RUN, metavar="RUN|PATH...", nargs=-1, required=True)
@root_option
@archive_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, targets: tuple[str, ...], root: str | None, archive_dir: str | None, as_json: bool
) -> None:
    """Check journals: seq gaps and duplicates, torn tail, malformed lines, unclosed steps and calls, permissions.

    In an agent's own file: malformed lines, unknown record types, calls without a result, missing side files. In a run
    of the archive, also the kept bytes; in a bundle, every byte. Exit code 1 when a problem was found, 3 when something
    cannot be read; the others are still checked.
    """

    def check(target: str) -> Verified:
        with open_run(target, root=root, archive=archive_dir) as run:
            return run.kind.verified()

    reports, code = check_all(targets, check, _print if not as_json else lambda report: None)
    if as_json:
        print_json([each.report for each in reports])
    ctx.exit(code)


def _print(checked: Verified) -> None:
    write_text(f"{visible(checked.summary)}\n")
    for finding in checked.findings:
        write_text(f"  {visible(finding)}\n")
