"""`steno secrets`: where runs contain secrets."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from stenograph.bundle.secrets import machine_mask
from stenograph.cli.options import archive_option, print_json, report_problems, root_option, say
from stenograph.cli.scope import scope_options
from stenograph.cli.table import print_rows
from stenograph.redact.event import EventMask
from stenograph.redact.rules import built_in
from stenograph.runs.archive import Archive, Filters
from stenograph.runs.opening import open_run
from stenograph.runs.secrets import FoundSecret, secrets_in
from stenograph.version import __version__

FORMS = ("table", "json", "sarif")
_LEVELS = {"certain": "error", "likely": "warning", "possible": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@click.command(
    "secrets",
    epilog="Example: steno secrets --since 7d --format sarif > secrets.sarif",
)
@click.argument("targets", metavar="[RUN|PATH]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every run of the archive.")
@scope_options
@click.option("--format", "form", type=click.Choice(FORMS), default="table", help="table (default), json or sarif.")
@click.option("--json", "form", flag_value="json", help="Print JSON: an array with one object per secret.")
@click.option("--show", is_flag=True, help="Print the secrets themselves, after a question; only on a terminal.")
@root_option
@archive_option
def command(
    targets: tuple[str, ...],
    everything: bool,
    filters: Filters,
    form: str,
    show: bool,
    root: str | None,
    archive_dir: str | None,
) -> None:
    """Report where runs contain secrets: run, event number, field, rule and certainty; never the secret itself.

    Checks the named runs, or those of the archive that the options select. certain: known by its shape; likely: its
    name or place calls it secret; possible: only its randomness suggests it.

    Exit code 1 when something is found, 0 when not: for CI and for hooks.
    """
    chosen = any(filters.values())
    if bool(targets) == (everything or chosen):
        raise click.UsageError("Name runs, or select runs of the archive: --all, --since 7d, --project . …")
    if show:
        _ask()
    mask = machine_mask()
    found = list(_in_targets(targets, root, archive_dir, mask) if targets else _in_archive(filters, archive_dir, mask))
    _print(found, form, show=show)
    if found:
        raise click.exceptions.Exit(1)


def _ask() -> None:
    """Ask before printing secrets; they never go into a pipe or a log."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("--show asks first, so it needs a terminal; leave it out, or run it in one.")
    click.confirm("Print the secrets themselves on this terminal?", abort=True, err=True)


def _in_targets(
    targets: tuple[str, ...], root: str | None, archive_dir: str | None, mask: EventMask
) -> Iterator[FoundSecret]:
    for target in targets:
        with open_run(target, root=root, archive=archive_dir) as run:
            yield from secrets_in(run.events(), mask)
            report_problems(run.problems())


def _in_archive(filters: Filters, archive_dir: str | None, mask: EventMask) -> Iterator[FoundSecret]:
    with Archive(archive_dir) as archive:
        runs = archive.runs(**filters)
        for info in runs:
            with archive.run(info.run_id) as run:
                yield from secrets_in(run.events(keep_raw=False), mask)
    if not runs:
        say("no run of the archive matches; steno ls lists them")


def _print(found: list[FoundSecret], form: str, *, show: bool) -> None:
    if form == "sarif":
        print_json(_sarif(found))
        return
    rows = [each.to_dict(show=show) for each in found]
    if form == "json":
        print_json(rows)
    elif rows:
        print_rows(list(rows[0]), [list(row.values()) for row in rows])
    runs = len({each.run_id for each in found})
    if form == "table":
        advice = "share them with --redact, or remove a run for good: steno forget RUN"
        say(f"{len(found)} secrets in {runs} runs; {advice}" if found else "no secrets found")


def _sarif(found: list[FoundSecret]) -> dict[str, Any]:
    """The findings in the Static Analysis Results Interchange Format, which code hosts read."""
    about = {rule.name: rule.about for rule in built_in().all}
    rules = [
        {"id": rule, "shortDescription": {"text": about.get(rule, f"{rule}, found by the name or place of the value")}}
        for rule in sorted({each.rule for each in found})
    ]
    driver = {"name": "stenograph", "version": __version__, "rules": rules}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(each) for each in found]}],
    }


def _result(found: FoundSecret) -> dict[str, Any]:
    place = f"{found.run_id}#{found.seq}"
    return {
        "ruleId": found.rule,
        "level": _LEVELS[found.sureness],
        "message": {"text": f"a secret ({found.rule}, {found.sureness}) in {found.field} of event {found.seq}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": f"{found.run_id}.jsonl"},
                    "region": {"startLine": max(1, found.seq)},
                },
                "logicalLocations": [{"fullyQualifiedName": f"{place}/{found.field}", "kind": "member"}],
            }
        ],
    }
