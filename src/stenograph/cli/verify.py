"""`steno verify`: is a journal what it promises?"""

from __future__ import annotations

import click

from stenograph.cli.options import json_option, print_json, root_option, write_text
from stenograph.errors import SourceError
from stenograph.journal.place import find_journal
from stenograph.journal.verify import JournalReport, verify_journal
from stenograph.render.terminal import visible


@click.command(
    "verify",
    epilog="Example: steno verify storage/transcripts/*.jsonl",
    short_help="Check journals for gaps, torn tails, open ends and permissions.",
)
@click.argument("targets", metavar="RUN|PATH...", nargs=-1, required=True)
@root_option
@json_option
@click.pass_context
def command(ctx: click.Context, targets: tuple[str, ...], root: str, as_json: bool) -> None:
    """Check journals: seq gaps and duplicates, torn tail, malformed lines, unclosed steps and calls, permissions.

    Exit code 1 when a problem was found, 3 when a journal could not be read; the others are checked all the same.
    """
    code = 0
    reports = []
    for target in targets:
        try:
            report = verify_journal(find_journal(target, root))
        except SourceError as error:
            click.echo(f"steno: {error}", err=True)
            code = 3
            continue
        code = code or (0 if report.ok else 1)
        reports.append(report)
        if not as_json:
            _print(report)
    if as_json:
        print_json(reports)
    ctx.exit(code)


def _print(report: JournalReport) -> None:
    verdict = "ok" if report.ok else "PROBLEMS"
    live = ", being written now" if report.live else ""
    write_text(f"{report.path}: {verdict}, {report.events} events in {report.lines} lines{live}\n")
    for finding in report.findings:
        where = f" line {finding.line}" if finding.line is not None else ""
        seq = f" seq {finding.seq}" if finding.seq is not None and finding.line is None else ""
        mark = "✗" if finding.problem else "·"
        write_text(f"  {mark} {finding.kind}{where}{seq}: {visible(finding.message)}\n")
