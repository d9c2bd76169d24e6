"""`steno export`: runs in formats that other tools read. With `--raw` it is the old spelling of `steno restore`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stenograph.cli.completion import EXPORTER, RUN
from stenograph.cli.options import (
    archive_option,
    header_option,
    json_document,
    json_option,
    print_json,
    redact_option_of_convert,
    report_masked,
    report_problems,
    root_option,
    say,
    write_bytes,
    write_text,
)
from stenograph.cli.progress import Progress

if TYPE_CHECKING:
    from stenograph.export.exporting import Export

_FORMAT_OPTIONS = {
    "subagents": "Subagents: embed, files or drop.",
    "content": "How much of the conversation each span holds: delta, full or none.",
    "arguments": "Arguments of calls as object or string.",
    "reasoning": "Thinking as a field, inline, or drop it.",
    "open": "Calls without a result: cut, drop or answer.",
    "vocabulary": "Names of attributes: genai or openinference.",
    "views": "Which tables: all, or events alone.",
}
"""The options that some formats have; `--list` says which, with their values."""


def _format_options(command: Any) -> Any:
    for name, text in reversed(_FORMAT_OPTIONS.items()):
        command = click.option(f"--{name}", f"option_{name}", metavar="WORD", help=text)(command)
    return command


@click.command(
    "export",
    epilog="Example: steno export @ --to atif --redact -o run.trajectory.json",
)
@click.argument("targets", type=RUN, metavar="RUN|PATH...", nargs=-1)
@click.option("--to", "format_name", type=EXPORTER, metavar="FORMAT", help="The format to write; --list names them.")
@click.option("--list", "is_list", is_flag=True, help="List the formats with their options.")
@click.option("-o", "--output", metavar="FILE|DIR", help="Write to this file or folder; - is standard output.")
@redact_option_of_convert
@click.option("--report", "report_path", metavar="FILE", help="Write what was kept, changed and dropped, as JSON.")
@click.option("--endpoint", metavar="URL", help="With --to otlp: send the trace to this collector instead.")
@header_option
@_format_options
@root_option
@archive_option
@click.option("--raw", "folder", metavar="DIR", help="The old spelling of: steno restore RUN DIR.")
@click.option("--version", type=click.IntRange(min=1), metavar="N", help="With --raw: an older version of files.")
@json_option
def command(
    targets: tuple[str, ...],
    format_name: str | None,
    is_list: bool,
    output: str | None,
    redact: bool,
    report_path: str | None,
    endpoint: str | None,
    headers: tuple[str, ...],
    root: str | None,
    archive_dir: str | None,
    folder: str | None,
    version: int | None,
    as_json: bool,
    **options: str | None,
) -> None:
    """Write runs in a format that other tools read, and report on stderr what it cannot hold.

    Several runs go into one file if the format has one run per line, otherwise into a folder (-o DIR).
    """
    if is_list:
        _list(as_json)
        return
    if not targets:
        raise click.UsageError("name a run, or use --list")
    if folder is not None:
        _restore(targets, folder, version, as_json)
        return
    if format_name is None:
        raise click.UsageError("name a format with --to FORMAT; --list names them")
    if endpoint is not None and (not format_name.startswith("otlp") or output is not None):
        raise click.UsageError("--endpoint needs --to otlp or otlp-protobuf, and no -o")
    if headers and endpoint is None:
        raise click.UsageError("--header needs --endpoint")
    if format_name == "inspect" and output is not None and output.endswith(".eval"):
        format_name = "inspect-eval"  # Inspect itself judges by the name of the file
    chosen = {name.removeprefix("option_"): value for name, value in options.items() if value is not None}
    _export(targets, format_name, output, endpoint, headers, redact, report_path, root, archive_dir, chosen)


def _list(as_json: bool) -> None:
    from stenograph.export.exporter import exporters

    found = exporters().values()
    if as_json:
        print_json(
            [
                {"name": each.name, "what": each.what, "version": each.version, "options": dict(each.options)}
                for each in found
            ]
        )
        return
    for each in found:
        write_text(f"{each.name}\n  {each.what}\n")
        for name, values in each.options.items():
            write_text(f"  --{name} {'|'.join(values)}\n")


def _restore(targets: tuple[str, ...], folder: str, version: int | None, as_json: bool) -> None:
    from stenograph.cli.commands.restore import restore

    if len(targets) != 1:
        raise click.UsageError("--raw takes one run")
    say(f"export --raw is the old spelling; use: steno restore {targets[0]} {folder}")
    restore(targets[0], folder, version, as_json=as_json)


def _export(
    targets: tuple[str, ...],
    format_name: str,
    output: str | None,
    endpoint: str | None,
    headers: tuple[str, ...],
    redact: bool,
    report_path: str | None,
    root: str | None,
    archive_dir: str | None,
    options: dict[str, str],
) -> None:
    from stenograph.atomic_file import write_atomically
    from stenograph.export.collector import collector_of
    from stenograph.export.exporter import exporter_named
    from stenograph.export.exporting import export_run
    from stenograph.export.sending import JSON, PROTOBUF, send_trace
    from stenograph.runs.opening import open_run

    exporter = exporter_named(format_name)
    collector = None if endpoint is None else collector_of(endpoint, headers)
    is_stdout = output is None or output == "-"
    is_folder = not is_stdout and (str(output).endswith("/") or Path(str(output)).is_dir())
    if len(targets) > 1 and not is_folder and not exporter.is_lines:
        raise click.UsageError(f"several runs in {format_name} need several files; name an existing folder with -o")
    exports: list[Export] = []
    masked: Counter[str] = Counter()
    progress = Progress("run", total=len(targets), is_shown=sys.stderr.isatty() and len(targets) > 1)
    for number, target in enumerate(targets):
        progress.reach(number)
        with open_run(target, root=root, archive=archive_dir, redact=redact) as run:
            export = export_run(run, format_name, redact=None, **options)
            masked += run.masked
            report_problems(run.problems())
        if is_stdout and export.side_files:
            raise click.UsageError(
                f"{target} has {len(export.side_files)} files beside the main one; name a file with -o"
            )
        progress.close()
        say(f"{target}: {export.summary}")
        if is_folder:
            _make_folder(Path(str(output)))
            export.write(Path(str(output)))
        elif collector is not None:
            kind = PROTOBUF if format_name == "otlp-protobuf" else JSON
            rejected, reason = send_trace(export.data, collector, kind)
            if rejected:
                say(f"{collector.url} left out {rejected} spans: {reason}")
        elif is_stdout:
            write_bytes(export.data)
        exports.append(export)
    if redact:
        report_masked(masked)
    if not is_stdout and not is_folder:
        if len(exports) == 1:
            exports[0].write(Path(str(output)))
        else:
            write_atomically(Path(str(output)), (export.data for export in exports))
    if report_path is not None:
        write_atomically(Path(report_path), [json_document([export.losses for export in exports])])


def _make_folder(path: Path) -> None:
    from stenograph.atomic_file import make_folder
    from stenograph.errors import StoreError

    try:
        make_folder(path)
    except OSError as error:
        raise StoreError(f"cannot create the folder {path}: {error.strerror}; check the path", str(path)) from error
