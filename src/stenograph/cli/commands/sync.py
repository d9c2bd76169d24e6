"""`steno sync`: archive and index what the agents wrote on this machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from stenograph import config
from stenograph.archive.keep.summary import Summary
from stenograph.archive.store.home import home_of
from stenograph.cli.options import (
    archive_option,
    json_option,
    print_json,
    retention_option,
    say,
    write_text,
)
from stenograph.cli.progress import Progress
from stenograph.cli.sources import sources_options
from stenograph.render.control_chars import visible
from stenograph.runs.archive import Archive, open_archive
from stenograph.runs.new_secrets import event_counts, new_secrets
from stenograph.runs.syncing import wanted_roots

_GARBAGE = 100_000


@click.command(
    "sync",
    epilog="Example: steno sync --agent claude --agent codex",
)
@sources_options
@click.option("--rebuild", is_flag=True, help="Rebuild the index from what is kept.")
@retention_option
@archive_option
@json_option
def command(
    home: str | None,
    agents: tuple[str, ...],
    paths: tuple[str, ...],
    rebuild: bool,
    retention: bool,
    archive_dir: str | None,
    as_json: bool,
) -> None:
    """Archive the transcripts of all agents on this machine, byte for byte, and index them.

    Only what changed since the last sync is read. The archive is in $STENOGRAPH_HOME or in the user's data folder.
    Nothing is written to the agents' folders, and what they delete stays in the archive.
    """
    shows = sys.stderr.isatty() and not as_json
    gc.freeze()
    gc.set_threshold(_GARBAGE)  # events have no cycles, and looking for them takes a twentieth of a long sync
    archive = open_archive(archive_dir)
    before = event_counts(archive) if config.value("redact.warn") else None
    packs = sum(pack.stat().st_size for pack in home_of(archive.path).kept.glob("*.pack")) if rebuild else 0
    with (
        Progress("session", is_shown=shows) as sessions,
        Progress("indexing what is kept", in_bytes=True, total=packs, is_shown=shows) as indexing,
    ):
        summary = archive.sync(
            sessions.reach,
            home=home,
            agents=agents,
            paths=paths,
            rebuild=rebuild,
            retention=retention,
            indexing=indexing.add,
        )
    if as_json:
        print_json(
            {"archive": str(archive.path), **{name: getattr(summary, name) for name in summary.__struct_fields__}}
        )
    else:
        write_text(summary_text(summary, archive.path))
    if not any((summary.new, summary.grown, summary.rewritten, summary.unchanged, summary.failed)):
        roots = wanted_roots(home_of(archive.path), home, agents, paths, existing_only=False)
        say(f"no transcripts found; looked in {', '.join(str(root.path) for root in roots)}")
    for problem in summary.problems:
        say(problem)
    if before is not None:
        _warn(archive, before)
    if summary.problems:
        raise click.exceptions.Exit(1)


def _warn(archive: Archive, before: Mapping[str, int]) -> None:
    """Warn about runs with new secrets (`[redact] warn`)."""
    for run_id, number in new_secrets(archive, before).items():
        say(f"{number} new secrets in run {run_id}; steno secrets {run_id} says where")


def summary_text(summary: Summary, archive: Path) -> str:
    """What a sync did, for people."""
    counts = {
        "new": summary.new,
        "grown": summary.grown,
        "rewritten": summary.rewritten,
        "moved": summary.moved,
        "gone": summary.gone,
        "unchanged": summary.unchanged,
        "failed": summary.failed,
    }
    always = ("new", "grown", "unchanged", "failed")
    counted = ", ".join(f"{number} {name}" for name, number in counts.items() if number or name in always)
    lines = [f"{counted}; {summary.events} events, {summary.bytes_read} bytes read ({visible(str(archive))})"]
    if summary.rebuilt:
        lines.append("the index was rebuilt from what is kept")
    if summary.left_out:
        reasons = "; ".join(f"{number} {reason}" for reason, number in summary.left_out.items())
        lines.append(f"{sum(summary.left_out.values())} files were left out: {reasons}")
    if summary.expired:
        lines.append(f"{summary.expired} runs expired by a [[keep]] rule and were removed")
    if summary.expiring:
        lines.append(f"{summary.expiring} runs would be removed by a [[keep]] rule without apply = true: steno doctor")
    if summary.checkpoint is not None:
        lines.append(f"signed a checkpoint of {summary.checkpoint} leaves")
    if summary.damaged:
        lines.append(f"{summary.damaged} bytes of the archive are torn or damaged and were not indexed")
    return "\n".join(lines) + "\n"
