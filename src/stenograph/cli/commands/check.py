"""`steno check`: rules over the archive, for CI."""

from __future__ import annotations

from pathlib import Path

import click

from stenograph.atomic_file import write_atomically
from stenograph.check.checking import Report, check
from stenograph.check.report import FORMS, as_json, as_junit, as_sarif, as_text, summary
from stenograph.check.rule import Rule, built_in, built_in_text, read_rules
from stenograph.cli.completion import RUN
from stenograph.cli.options import archive_option, run_mask, say, write_bytes, write_text
from stenograph.cli.scope import scope_options
from stenograph.runs.archive import Archive, Filters


@click.command(
    "check",
    epilog="Example: steno check --builtin all --since 1d --format junit -o steno.xml",
)
@click.argument("files", metavar="[RULES]...", nargs=-1)
@click.option("--builtin", metavar="ID", multiple=True, help="A built-in rule, or all. May be repeated.")
@click.option("--list", "list_rules", is_flag=True, help="Print the built-in rules as TOML.")
@click.option("--run", type=RUN, metavar="RUN", help="Only this run of the archive.")
@scope_options
@click.option(
    "--format", "form", type=click.Choice(FORMS), default="text", help="text (default), json, junit or sarif."
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file; the summary goes to standard error.")
@click.option(
    "--require-runs",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    help="Exit code 3 when fewer runs than N were examined.  [default: 1]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.001),
    default=300.0,
    metavar="SECONDS",
    help="Stop a rule after this long.  [default: 300]",
)
@archive_option
def command(
    files: tuple[str, ...],
    builtin: tuple[str, ...],
    list_rules: bool,
    run: str | None,
    filters: Filters,
    form: str,
    output: str | None,
    require_runs: int,
    timeout: float,
    archive_dir: str | None,
) -> None:
    """Check the runs of the archive against rules. RULES is a TOML file with one table per rule:

    \b
    [no-force-push]
    level = "error"
    message = "pushed by force: {command}"
    sql = "SELECT run_id, seq, timestamp, 'shell' AS name, command FROM commands WHERE command LIKE '%push --force%'"

    Each row is a violation, and its columns fill in the message. Violations are found afterwards, not prevented.
    Secrets in messages are masked.

    Exit codes: 0 no violation of level error, 1 some, 3 when a rule cannot run or there was nothing to examine.
    """
    if list_rules:
        write_text(built_in_text())
        return
    if not files and not builtin:
        raise click.UsageError("Give a file of rules, or --builtin all; --list prints the built-in rules.")
    if run is not None and any(filters.values()):
        raise click.UsageError("--run selects one run; leave out the other filters.")
    rules = [*built_in(builtin), *(rule for file in files for rule in read_rules(file))]
    _refuse_duplicates(rules)
    with Archive(archive_dir) as archive:
        report = check(archive, rules, filters, run=run, required_runs=require_runs, seconds=timeout, mask=run_mask())
    _print(report, form, output)
    if report.exit_code:
        raise click.exceptions.Exit(report.exit_code)


def _refuse_duplicates(rules: list[Rule]) -> None:
    ids = [rule.id for rule in rules]
    duplicates = sorted({each for each in ids if ids.count(each) > 1})
    if duplicates:
        raise click.UsageError(f"two rules are named {duplicates[0]!r}; rename one of them.")


def _print(report: Report, form: str, output: str | None) -> None:
    if form == "text":
        data = as_text(report).encode("utf-8", "replace")
    else:
        data = {"json": as_json, "junit": as_junit, "sarif": as_sarif}[form](report)
    if output is None or output == "-":
        write_bytes(data)
    else:
        write_atomically(Path(output), [data])
    if form != "text" or output is not None:
        say(summary(report))
