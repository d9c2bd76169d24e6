"""`steno bundle`: make, look at, check and unfold debug bundles."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from stenograph.bundle.create import write_bundle
from stenograph.bundle.extract import extract_bundle
from stenograph.bundle.loaded import DebugBundle
from stenograph.bundle.manifest import Manifest
from stenograph.bundle.mask import BundleMask
from stenograph.bundle.verify import BundleReport, verify_bundle
from stenograph.bundle.writing import BundleOptions, Extras
from stenograph.cli.checking import check_all
from stenograph.cli.options import (
    archive_option,
    json_option,
    print_json,
    redact_option,
    root_option,
    tell_of_masked,
    tell_of_problems,
    write_text,
)
from stenograph.cli.table import print_rows
from stenograph.render.visible import on_one_line, visible
from stenograph.runs.opening import open_run


@click.group(
    "bundle",
    epilog="Example: steno bundle create 550e84 -o bug.zip",
    short_help="Pack a run with everything needed to understand it.",
)
def command() -> None:
    """Pack a run with everything needed to understand it, and look into such bundles.

    A bundle is a zip: the events, the transcript, the logs, a page, tokens and times, and the environment.
    """


@command.command("create", epilog="Example: steno bundle create 550e84 --redact -o bug.zip")
@click.argument("target", metavar="RUN|PATH")
@click.option(
    "-o", "--output", metavar="FILE", default=".", help="The zip, or a folder to name it in.  [default: here]"
)
@click.option("--logs", metavar="FILE", help="A log of JSON lines to add; else the entries of the run are its log.")
@redact_option
@click.option("--environment/--no-environment", default=True, help="Add system, Python, packages, variables and git.")
@click.option(
    "--page/--no-page",
    default=None,
    help="Add transcript.html.  [default: unless the run has more than 32 MiB of events]",
)
@root_option
@archive_option
@json_option
def create(
    target: str,
    output: str,
    logs: str | None,
    redact: bool,
    environment: bool,
    page: bool | None,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Make a bundle of a run, of a journal, or of an agent's own file; print its path."""
    options = BundleOptions(redact=redact, environment=environment, page=page)
    with open_run(target, root=root, archive=archive_dir) as run:
        mask = BundleMask() if redact else None
        if mask is not None:
            mask.learn(run.kind.for_bundle())
        made_of = run.kind.for_bundle()
        extras = Extras(logs=None if logs is None else Path(logs))
        path = write_bundle(Path(output), made_of, options, extras, source=run.kind.place, mask=mask)
        if as_json:
            print_json({"path": str(path), "manifest": msgspec.to_builtins(DebugBundle.load(path).manifest)})
        else:
            write_text(f"{visible(str(path))}\n")
        tell_of_problems(run.problems())
        if mask is not None:
            tell_of_masked(mask.counts)


@command.command("show", epilog="Example: steno bundle show bug.zip")
@click.argument("file", metavar="FILE")
@json_option
def show(file: str, as_json: bool) -> None:
    """Print what a bundle holds: whose run it is, how it ended, and its files."""
    manifest = DebugBundle.load(file).manifest
    if as_json:
        print_json(manifest)
        return
    write_text(_facts(manifest) + "\n")
    print_rows(("file", "bytes"), [(each.name, each.size) for each in manifest.files])


def _facts(manifest: Manifest) -> str:
    counts = manifest.counts
    facts = {
        "run": f"{manifest.run_id}  {manifest.name}".rstrip(),
        "status": manifest.status,
        "agent": manifest.agent,
        "from": manifest.started_at,
        "to": manifest.ended_at,
        "made": f"{manifest.created_at} by {manifest.program}",
        "source": manifest.source,
        "events": f"{counts.events:,}, and {counts.child_events:,} of {len(manifest.child_run_ids)} called runs",
        "entries": f"{counts.entries:,}",
        "logs": f"{counts.log_records:,} records, {manifest.logs}",
        "secrets": "masked" if manifest.redacted else "as they were",
        "left out": "; ".join(f"{name} ({why})" for name, why in manifest.left_out.items()),
        "problems": "; ".join(manifest.problems),
    }
    return "".join(f"{name:9} {on_one_line(value)}\n" for name, value in facts.items() if value)


@command.command("verify", epilog="Example: steno bundle verify bug.zip")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@json_option
@click.pass_context
def verify(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Check that every byte of a bundle is as it was when it was made.

    Exit code 1 when anything was changed, is missing or was added, 3 when a file could not be read.
    """
    reports, code = check_all(files, verify_bundle, _print_report if not as_json else lambda report: None)
    if as_json:
        print_json([{"ok": report.ok, **msgspec.to_builtins(report)} for report in reports])
    ctx.exit(code)


def _print_report(report: BundleReport) -> None:
    verdict = "ok" if report.ok else "PROBLEMS"
    write_text(f"{visible(report.path)}: {verdict}, {report.files} files, {report.bytes:,} bytes\n")
    for finding in report.findings:
        where = f"{finding.file}: " if finding.file else ""
        write_text(f"  {finding.kind}: {on_one_line(where + finding.what)}\n")


@command.command("extract", epilog="Example: steno bundle extract bug.zip -o /tmp")
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", metavar="DIR", default=".", help="Where to put its folder.  [default: here]")
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Refuse a bundle that unfolds to more.  [default: 16 GiB, and 500 times its own size]",
)
def extract(file: str, output: str, max_bytes: int | None) -> None:
    """Unfold a bundle into its one folder, and print where that is.

    Refused are zips whose names lead elsewhere, with links, with names twice, and those that are far larger inside.
    """
    write_text(f"{visible(str(extract_bundle(Path(file), output, max_bytes=max_bytes)))}\n")
