"""`steno bundle`: create, show, verify and extract debug bundles."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import click
import msgspec

from stenograph.bundle.create import write_bundle
from stenograph.bundle.extract import extract_bundle
from stenograph.bundle.loaded import DebugBundle
from stenograph.bundle.manifest import Manifest
from stenograph.bundle.mask import BundleMask
from stenograph.bundle.verify import BundleFinding, BundleReport, verify_bundle
from stenograph.bundle.writing import PROOF, BundleOptions, Extras
from stenograph.cli.check_all import check_all
from stenograph.cli.completion import RUN
from stenograph.cli.options import (
    archive_option,
    json_option,
    print_json,
    redact_option,
    report_masked,
    report_problems,
    root_option,
    write_bytes,
    write_text,
)
from stenograph.cli.progress import Progress
from stenograph.cli.table import print_rows
from stenograph.render.control_chars import on_one_line, visible
from stenograph.runs.opening import open_run

_CHUNK = 1 << 20


@click.group(
    "bundle",
    epilog="Example: steno bundle create 550e84 -o bug.zip",
)
def command() -> None:
    """Pack a run with everything needed to understand it, and inspect such bundles.

    A bundle is a zip: the events, the transcript, the logs, a page, tokens and times, and the environment.
    """


@command.command("create", epilog="Example: steno bundle create 550e84 --redact -o bug.zip")
@click.argument("target", type=RUN, metavar="RUN|PATH")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=".",
    help="The zip file, or a folder to put it in; - is standard output.  [default: the current folder]",
)
@click.option("--logs", metavar="FILE", help="A log of JSON lines to add; without it, the run's entries are the log.")
@redact_option
@click.option("--environment/--no-environment", default=True, help="Add system, Python, packages, variables and git.")
@click.option(
    "--page/--no-page",
    default=None,
    help="Add transcript.html.  [default: unless the run has more than 32 MiB of events]",
)
@click.option("--prove", is_flag=True, help="Add the proof that the run is in the archive's signed log.")
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
    prove: bool,
    root: str | None,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Create a bundle of a run, a journal, or an agent's own file, and print its path."""
    if prove and redact:
        raise click.UsageError("--prove needs the original bytes, which --redact would mask; leave out one of them")
    if output == "-" and (as_json or sys.stdout.isatty()):
        raise click.UsageError("-o - writes the zip itself: leave out --json, and send it to a file or a program")
    options = BundleOptions(redact=redact, environment=environment, page=page)
    with (
        tempfile.TemporaryDirectory(prefix="stenograph-") as passing,
        open_run(target, root=root, archive=archive_dir) as run,
    ):
        mask = BundleMask() if redact else None
        if mask is not None:
            mask.learn(run.kind.for_bundle())
        made_of = run.kind.for_bundle()
        proof = _proof(run.kind.run_id, archive_dir) if prove else {}
        extras = Extras(logs=None if logs is None else Path(logs), proof=proof)
        size = Path(run.kind.place).stat().st_size if run.kind.name == "a journal" else 0
        with Progress("packing", in_bytes=True, total=size) as packing:
            path = write_bundle(
                Path(passing if output == "-" else output),
                made_of,
                options,
                extras,
                source=run.kind.place,
                mask=mask,
                progress=packing.reach,
            )
        if output == "-":
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    write_bytes(chunk)
        elif as_json:
            print_json({"path": str(path), "manifest": msgspec.to_builtins(DebugBundle.load(path).manifest)})
        else:
            write_text(f"{visible(str(path))}\n")
        report_problems(run.problems())
        if mask is not None:
            report_masked(mask.counts)


def _proof(run_id: str, archive_dir: str | None) -> dict[str, bytes]:
    from stenograph.archive.store.home import home_of
    from stenograph.evidence.run_proof import proof_of_run
    from stenograph.evidence.signing import sign

    home = home_of(archive_dir)
    return dict(proof_of_run(sign(home), home.kept, run_id))


@command.command("show", epilog="Example: steno bundle show bug.zip")
@click.argument("file", metavar="FILE")
@json_option
def show(file: str, as_json: bool) -> None:
    """Print what a bundle holds: the run, how it ended, and the files."""
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
@click.option(
    "--vkey", "vkeys", multiple=True, metavar="FILE", help="Also check the proof in it with this verifier key."
)
@json_option
@click.pass_context
def verify(ctx: click.Context, files: tuple[str, ...], vkeys: tuple[str, ...], as_json: bool) -> None:
    """Check that a bundle is byte for byte as it was created.

    With --vkey, also check that the agent's bytes in it are in a log signed by this key. Get the key from elsewhere,
    not with the bundle.

    Exit code 1 when anything was changed, is missing or was added, 3 when a file could not be read.
    """
    check = partial(_proved, vkeys=vkeys) if vkeys else verify_bundle
    reports, code = check_all(files, check, _print_report if not as_json else lambda report: None)
    if as_json:
        print_json([{"ok": report.ok, **msgspec.to_builtins(report)} for report in reports])
    ctx.exit(code)


def _proved(file: str, vkeys: tuple[str, ...]) -> BundleReport:
    """The report, with what is wrong with the proof in the bundle."""
    from stenograph.bundle.container import Container
    from stenograph.errors import BadSignature, InvalidEvidence
    from stenograph.evidence.keys import load_verifier_key
    from stenograph.evidence.run_proof import check_run_proof

    keys = [load_verifier_key(Path(each)) for each in vkeys]
    report = verify_bundle(file)
    if any(each.kind == "unreadable" for each in report.findings):
        return report
    with Container(Path(file)) as container:
        proof = {each.removeprefix(PROOF): container.read(each) for each in container.names if each.startswith(PROOF)}
    try:
        wrong = check_run_proof(proof, keys, report.run_id).findings
    except (BadSignature, InvalidEvidence) as error:
        wrong = (str(error),)
    unproved = tuple(BundleFinding(kind="unproved", file=PROOF, what=each) for each in wrong)
    return msgspec.structs.replace(report, findings=(*report.findings, *unproved))


def _print_report(report: BundleReport) -> None:
    verdict = "ok" if report.ok else "PROBLEMS"
    write_text(f"{visible(report.path)}: {verdict}, {report.files} files, {report.bytes:,} bytes\n")
    for finding in report.findings:
        where = f"{finding.file}: " if finding.file else ""
        write_text(f"  {finding.kind}: {on_one_line(where + finding.what)}\n")


@command.command("extract", epilog="Example: steno bundle extract bug.zip -o /tmp")
@click.argument("file", metavar="FILE")
@click.option(
    "-o", "--output", metavar="DIR", default=".", help="Where to put its folder.  [default: the current folder]"
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    metavar="N",
    help="Refuse a bundle that is larger when extracted.  [default: 16 GiB, and 500 times its own size]",
)
@click.option("--changed", is_flag=True, help="Also extract a bundle that was changed since it was created.")
@json_option
def extract(file: str, output: str, max_bytes: int | None, changed: bool, as_json: bool) -> None:
    """Extract a bundle into its one folder, and print the path.

    Refuses bundles that were changed since they were created or hold files that their manifest does not name, and zips
    with names that lead outside, links, duplicate names, or contents that are far larger than the file.
    """
    folder = extract_bundle(Path(file), output, max_bytes=max_bytes, changed=changed)
    if as_json:
        print_json({"path": str(folder)})
    else:
        write_text(f"{visible(str(folder))}\n")
