"""`steno verify`: is a journal what it promises?"""

from __future__ import annotations

import click

from stenograph.cli.checking import check_all
from stenograph.cli.options import json_option, print_json, root_option, write_text
from stenograph.cli.target import find_target
from stenograph.journal.verify import JournalReport, verify_journal
from stenograph.render.visible import visible
from stenograph.sources.verify import SourceReport, verify_source


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

    Of an agent's own file: malformed lines, unknown record types, calls without a result, missing side files.
    Exit code 1 when a problem was found, 3 when a journal could not be read; the others are checked all the same.
    """

    def check(target: str) -> JournalReport | SourceReport:
        path, format_name = find_target(target, root)
        return verify_journal(path) if format_name == "exchange" else verify_source(path)

    def told(report: JournalReport | SourceReport) -> None:
        if not as_json:
            _print(report) if isinstance(report, JournalReport) else _print_source(report)

    reports, code = check_all(targets, check, told)
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


def _print_source(report: SourceReport) -> None:
    verdict = "ok" if report.ok else "PROBLEMS"
    write_text(f"{report.path}: {verdict}, {report.format}, {report.events} events from {report.lines} lines\n")
    if report.malformed:
        write_text(f"  ✗ malformed: {report.malformed} lines are not JSON\n")
    if report.failed:
        write_text(f"  ✗ failed: {report.failed} lines broke our mapping; please report it\n")
    for name, number in report.unknown_types.items():
        write_text(f"  · unknown_type: {number} records of type {visible(name)}\n")
    for call in report.open_calls:
        write_text(f"  · open_call: a tool call has no result: {visible(call)}\n")
    for file in report.wanted_files:
        write_text(f"  · side_file: {visible(file)} is not there\n")
