"""`steno convert`: agents' files as canonical events."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import msgspec

from stenograph.cli.options import json_document, write_bytes
from stenograph.errors import SourceError, StoreError
from stenograph.model import Event, encode
from stenograph.sources.conversion import FileReport, convert, convert_stream
from stenograph.sources.detection import format_named
from stenograph.transcript import entries

BATCH = 1 << 16


@click.command(
    "convert",
    epilog="Example: steno convert ~/.claude/projects --no-raw > all.jsonl",
    short_help="Print agents' files as canonical events.",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--from", "format_name", metavar="FORMAT", help="Take this format as given; steno formats lists them.")
@click.option("--entries", "as_entries", is_flag=True, help="Print transcript entries instead of events.")
@click.option("--no-raw", "keep_raw", is_flag=True, flag_value=False, default=True, help="Leave the source lines out.")
@click.option(
    "--report",
    "report_path",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write what was read, skipped and malformed, file by file, as JSON.",
)
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    format_name: str | None,
    as_entries: bool,
    keep_raw: bool,
    report_path: str | None,
) -> None:
    """Print canonical events as JSON Lines, from files, sessions with their subagents, folders, or stdin (-).

    Malformed lines become unknown events; they are counted on stderr and in the report, and the exit code stays 0. A
    path that cannot be read gives exit code 3; the others are converted all the same.
    """
    spec = None if format_name is None else format_named(format_name)
    code = 0
    files: list[FileReport] = []
    for path in paths:
        try:
            conversion = (
                convert_stream(sys.stdin.buffer, spec, keep_raw=keep_raw)
                if path == "-"
                else convert(Path(path), spec, keep_raw=keep_raw)
            )
            _write(_lines(conversion, as_entries))
        except SourceError as error:
            click.echo(f"steno: {error}", err=True)
            code = error.exit_code
            continue
        files += conversion.files
        tell_of_flaws(conversion.files)
    if report_path is not None:
        _write_report(Path(report_path), files)
    ctx.exit(code)


def _write_report(path: Path, files: list[FileReport]) -> None:
    try:
        path.write_bytes(json_document(files))
    except OSError as error:
        raise StoreError(f"cannot write the report to {path}: {error.strerror}; check the folder", str(path)) from error


def _lines(events: Iterable[Event], as_entries: bool) -> Iterator[bytes]:
    if as_entries:
        return (msgspec.json.encode(entry.as_dict()) for entry in entries(events))
    return (encode(event) for event in events)


def _write(lines: Iterable[bytes]) -> None:
    waiting: list[bytes] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size > BATCH:
            write_bytes(b"\n".join(waiting) + b"\n")
            waiting, size = [], 0
    if waiting:
        write_bytes(b"\n".join(waiting) + b"\n")


def tell_of_flaws(files: list[FileReport]) -> None:
    """What could not be read, file by file, on stderr."""
    for file in files:
        report = file.report
        counted = [
            (report.malformed, "lines are not JSON"),
            (report.failed, "lines broke our mapping (please report)"),
            (report.replaced, "characters were replaced"),
            (len(report.wanted_files), "side files were wanted and not read"),
        ]
        told = [f"{number} {what}" for number, what in counted if number]
        if file.problem is not None:
            told = [file.problem]
        if told:
            click.echo(f"steno: {file.path}: {', '.join(told)}", err=True)
