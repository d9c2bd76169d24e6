"""`steno convert`: agents' files as canonical events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import click
import msgspec

from stenograph.cli.completion import FORMAT, RUN
from stenograph.cli.options import (
    archive_option,
    json_document,
    redact_option_of_convert,
    report_masked,
    report_problems,
    root_option,
    run_mask,
    say,
    write_bytes,
)
from stenograph.errors import SourceError, StoreError
from stenograph.fold.losses import loss_line
from stenograph.model import Event, encode
from stenograph.model.codec import encode_pieces
from stenograph.runs.converting import converted
from stenograph.sources.conversion import FileReport
from stenograph.sources.detection import format_named
from stenograph.transcript import entries

BATCH = 1 << 16


@click.command(
    "convert",
    epilog="Example: steno convert ~/.claude/projects --no-raw > all.jsonl",
)
@click.argument("targets", type=RUN, metavar="RUN|PATH...", nargs=-1, required=True)
@click.option(
    "--from",
    "format_name",
    type=FORMAT,
    metavar="FORMAT",
    help="Read them as this format instead of detecting one; see steno formats.",
)
@click.option("--entries", "as_entries", is_flag=True, help="Print transcript entries instead of events.")
@click.option("--no-raw", "keep_raw", is_flag=True, flag_value=False, default=True, help="Leave out the source lines.")
@click.option(
    "--report",
    "report_path",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write what was read, skipped, malformed and lost, file by file, as JSON.",
)
@redact_option_of_convert
@root_option
@archive_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array instead of JSON Lines.")
@click.pass_context
def command(
    ctx: click.Context,
    targets: tuple[str, ...],
    format_name: str | None,
    as_entries: bool,
    keep_raw: bool,
    report_path: str | None,
    redact: bool,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Print canonical events as JSON Lines, from files, sessions with their subagents, folders, runs, or stdin (-).

    Malformed lines become unknown events; they are counted on stderr and in the report, and the exit code stays 0. A
    path that cannot be read gives exit code 3; the others are still converted.
    """
    spec = None if format_name is None else format_named(format_name)
    mask = run_mask() if redact else None
    masked: Counter[str] = Counter()
    code = 0
    files: list[FileReport] = []
    output = _Output(as_json)
    for target in targets:
        try:
            with closing(converted(target, spec, keep_raw=keep_raw, root=root, archive=archive_dir)) as conversion:
                output.write(_lines(conversion if mask is None else mask.events(conversion), as_entries))
                problems = conversion.problems()
        except SourceError as error:
            say(str(error))
            code = error.exit_code
            continue
        masked.update({} if mask is None else mask.latest)
        files += conversion.files
        report_problems(problems)
        _report_losses(conversion.files)
        if not conversion.number and not problems:
            say(f"{target} has no events")
    output.close()
    if report_path is not None:
        _write_report(Path(report_path), files)
    if redact:
        report_masked(masked)
    ctx.exit(code)


def _report_losses(files: Iterable[FileReport]) -> None:
    """Print on standard error what of exchange files reads differently, or not at all."""
    for file in files:
        if file.losses is not None and (file.losses["changed"] or file.losses["dropped"]):
            say(f"{file.path}: {loss_line(file.losses)}")


def _write_report(path: Path, files: list[FileReport]) -> None:
    try:
        path.write_bytes(json_document(files))
    except OSError as error:
        raise StoreError(f"cannot write the report to {path}: {error.strerror}; check the folder", str(path)) from error


Item = bytes | Iterator[bytes | memoryview]
"""A line, or the pieces of a long one."""


def _lines(events: Iterable[Event], as_entries: bool) -> Iterator[Item]:
    if as_entries:
        return (msgspec.json.encode(entry.as_dict()) for entry in entries(events))
    return (encode(event) if event.raw is None or len(event.raw) < BATCH else encode_pieces(event) for event in events)


class _Output:
    """Writes JSON Lines, or one array of the same items."""

    def __init__(self, is_array: bool) -> None:
        self._is_array = is_array
        self._is_begun = False

    def write(self, lines: Iterable[Item]) -> None:
        """Write items, a batch at a time; a long one a piece at a time."""
        waiting: list[bytes] = []
        size = 0
        for line in lines:
            if not isinstance(line, bytes):
                if waiting:
                    self._flush(waiting)
                    waiting, size = [], 0
                self._begin()
                for piece in line:
                    write_bytes(piece)
                self._end()
                continue
            waiting.append(line)
            size += len(line)
            if size > BATCH:
                self._flush(waiting)
                waiting, size = [], 0
        if waiting:
            self._flush(waiting)

    def _flush(self, lines: list[bytes]) -> None:
        self._begin()
        write_bytes(
            lines[0] if len(lines) == 1 else (b",\n" if self._is_array else b"\n").join(lines)
        )  # without a copy
        self._end()

    def _begin(self) -> None:
        if self._is_array:
            write_bytes(b",\n" if self._is_begun else b"[\n")
            self._is_begun = True

    def _end(self) -> None:
        if not self._is_array:
            write_bytes(b"\n")

    def close(self) -> None:
        """End the array."""
        if self._is_array:
            write_bytes(b"\n]\n" if self._is_begun else b"[]\n")
