"""Options and output that commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import msgspec

from stenograph.cli.terminal import escaped, shown
from stenograph.cli.terminal import say as say
from stenograph.cli.terminal import wants_color as wants_color
from stenograph.errors import StoreError
from stenograph.model import mend

if TYPE_CHECKING:
    from stenograph.runs.mask import RunMask
    from stenograph.runs.problem import Problem

F = TypeVar("F", bound=Callable[..., Any])


def root_option(command: F) -> F:
    """`--root`: where run ids are looked up."""
    return click.option(
        "--root", metavar="DIR", help="Where journals are kept.  [default: ./storage or $STENOGRAPH_STORAGE]"
    )(command)


def archive_option(command: F) -> F:
    """`--archive`: which archive to use."""
    return click.option(
        "--archive", "archive_dir", metavar="DIR", help="The archive.  [default: $STENOGRAPH_HOME, or the data folder]"
    )(command)


def retention_option(command: F) -> F:
    """`--no-retention`: do not remove expired runs this time."""
    return click.option(
        "--retention/--no-retention", default=True, help="Remove runs that [[keep]] rules let expire.  [default: do]"
    )(command)


def header_option(command: F) -> F:
    """`--header`: request headers that a collector needs, such as a key."""
    return click.option(
        "--header",
        "headers",
        multiple=True,
        metavar="NAME=VALUE",
        help="Send this header to the collector; may be repeated.",
    )(command)


REPORT = "stenograph.redaction_report"


def redact_option(command: F) -> F:
    """`--redact`: print no secrets; `--report`: what was masked, which `report_masked` writes."""
    return _redact_option("--report")(command)


def redact_option_of_convert(command: F) -> F:
    """`--redact` for `convert`, whose `--report` is about what was read."""
    return _redact_option("--redact-report")(command)


def _redact_option(report: str) -> Callable[[F], F]:
    def decorated(command: F) -> F:
        command = click.option(
            report,
            type=click.Path(dir_okay=False),
            metavar="FILE",
            expose_value=False,
            callback=lambda ctx, _, path: ctx.meta.update({REPORT: path}),
            help="With --redact: write how often each rule masked something, as JSON.",
        )(command)
        return click.option("--redact", is_flag=True, help="Mask secrets, and report how many.")(command)

    return decorated


def run_mask() -> RunMask:
    """The mask of `--redact`."""
    from stenograph.runs.mask import RunMask  # many patterns, slow to load

    mask = RunMask()
    mask.count_anew()
    return mask


def report_masked(counts: Mapping[str, int]) -> None:
    """Print on standard error what `--redact` masked, and write the requested report."""
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    say(f"masked {total}" + (f" ({', '.join(f'{count} {rule}' for rule, count in ranked)})" if total else ""))
    path = click.get_current_context().meta.get(REPORT)
    if path is not None:
        try:
            Path(path).write_bytes(json_document({"masked": total, "rules": dict(ranked)}))
        except OSError as error:
            raise StoreError(f"cannot write the report to {path}: {error.strerror}; check the folder", path) from error


def json_option(command: F) -> F:
    """`--json`: data for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def json_document(value: Any) -> bytes:
    """One JSON document, indented, newline included."""
    plain, _ = mend.scrub(msgspec.to_builtins(mend.plain(value)))  # a path need not be text
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def print_json(value: Any) -> None:
    """One JSON document to standard output."""
    write_bytes(json_document(value))


def write_bytes(data: bytes | memoryview) -> None:
    """Data to standard output unchanged; control sequences are escaped on a terminal. Ends the program on failure."""
    _write(escaped(bytes(data)) if sys.stdout.isatty() else data)


def write_text(text: str) -> None:
    """Text to standard output in UTF-8 whatever the locale; on a terminal, only colour sequences stay."""
    _write((shown(text) if sys.stdout.isatty() else text).encode("utf-8", "replace"))


def _write(data: bytes | memoryview) -> None:
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except OSError as error:
        raise click.exceptions.Exit(cannot_write(error)) from None


def cannot_write(error: OSError) -> int:
    """Report that standard output cannot be written, and write no more to it; returns the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing may be flushed to it at exit
    if isinstance(error, BrokenPipeError):  # the reader has left (`steno show … | head`)
        return 141
    say(f"cannot write the output: {error.strerror}")
    return 4


def report_problems(problems: Iterable[Problem]) -> None:
    """Print on standard error which parts of a run could not be read properly."""
    for problem in problems:
        say(str(problem))
