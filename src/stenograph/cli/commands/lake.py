"""`steno lake`: one open table of the events of many archives, or of all transcripts of a bucket."""

from __future__ import annotations

import sys

import click
import msgspec

from stenograph.cli.options import json_option, print_json, say, write_text
from stenograph.cli.progress import Progress
from stenograph.fleet.lake.engines import ENGINES
from stenograph.fleet.store.objects import open_store
from stenograph.render.figures import counted

_MOST_SAID = 10


@click.group(
    "lake",
    epilog="Example: steno lake load s3://company-steno/agents",
)
def command() -> None:
    """Build one open table (Delta Lake) from what many machines pushed, or from all transcripts in a bucket.

    steno ls, show, search, stats and sql read it with --store URL; so do DuckDB, ClickHouse, Spark, Trino and others.
    """


@command.command("load", epilog="Example: steno lake load file:///mnt/shared/steno")
@click.argument("url", metavar="URL")
@json_option
def load(url: str, as_json: bool) -> None:
    """Load what was pushed to the store at URL and is not in its table yet.

    Every event is loaded once, even if several loaders run or are killed. No state is kept outside the table. Run it
    every minute, or after steno push.
    """
    from stenograph.fleet.lake.load import load as load_lake

    with Progress("events", is_shown=sys.stderr.isatty() and not as_json) as shown:
        loaded = load_lake(open_store(url), progress=shown.reach)
    for archive in loaded.waiting[:_MOST_SAID]:
        say(f"archive {archive}: a segment is missing, so the later ones are not loaded yet; steno lake check names it")
    if as_json:
        print_json({"url": url, **msgspec.structs.asdict(loaded)})
    else:
        write_text(
            f"loaded {counted(loaded.events, 'event')} in {counted(loaded.segments, 'segment')} of "
            f"{counted(loaded.archives, 'archive')}\n"
        )


@command.command("compact", epilog="Example: steno lake compact s3://company-steno/agents")
@click.argument("url", metavar="URL")
@click.option(
    "--keep-hours",
    type=click.IntRange(min=0),
    default=24,
    metavar="N",
    help="Keep replaced files this long for readers that still use them; files with forgotten runs are deleted at "
    "once.  [default: 24]",
)
@json_option
def compact(url: str, keep_hours: int, as_json: bool) -> None:
    """Maintain the table: remove what was forgotten or replaced, and make large files of many small ones.

    Run it with permission to delete; once a night is enough. Loaders and readers may run at the same time.
    """
    from stenograph.fleet.lake.compact import compact as compact_lake

    done = compact_lake(open_store(url), keep_hours=keep_hours)
    if as_json:
        print_json({"url": url, **msgspec.structs.asdict(done)})
    else:
        write_text(
            f"{done.files_before:,} → {done.files_after:,} files, {done.deleted_files:,} replaced files deleted\n"
            f"removed {done.forgotten_rows:,} forgotten and {done.outdated_rows:,} outdated events\n"
            f"erased forgotten runs from {done.erased_pieces:,} objects, deleted {done.deleted_segments:,} segments\n"
        )


@command.command("check", epilog="Example: steno lake check file:///mnt/shared/steno")
@click.argument("url", metavar="URL")
@json_option
def check(url: str, as_json: bool) -> None:
    """Check that the table has every event that was pushed, once, and none that was forgotten.

    Exit code 1 when it does not. Events that are pushed and not loaded yet are counted, and are not a problem.
    """
    from stenograph.fleet.lake.check import check as check_lake

    found = check_lake(open_store(url))
    if as_json:
        print_json({"url": url, **msgspec.to_builtins(found)})
    else:
        verdict = "ok" if found.ok else "PROBLEMS"
        write_text(
            f"{verdict}: {counted(found.rows, 'event')} of {counted(len(found.archives), 'archive')}, "
            f"{found.behind:,} of them with events to load\n"
        )
        write_text("".join(f"  ✗ {finding}\n" for finding in found.findings))
    if not found.ok:
        raise click.exceptions.Exit(1)


@command.command("build", epilog="Example: steno lake build --on dask s3://bucket/transcripts s3://bucket/tables")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--on",
    "engine",
    type=click.Choice(ENGINES),
    default="processes",
    help="The engine.  [default: processes on this machine]",
)
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="How many workers run at once.  [default: all cores]"
)
@click.option("--address", metavar="ADDRESS", help="The engine's cluster.  [default: one on this machine]")
@click.option("--redact", is_flag=True, help="Mask secrets before anything is written.")
@json_option
def build(
    source: str, target: str, engine: str, workers: int | None, address: str | None, redact: bool, as_json: bool
) -> None:
    """Parse all transcripts below the URL IN into the tables below the URL OUT, which are replaced at the end.

    Only keys go through the engine; workers read and write by themselves. If it is killed, start it again: it continues
    with what is left. --on dask, ray and spark need that engine (pip install), or --address of a cluster whose workers
    have stenograph[store,lake].
    """
    from stenograph.fleet.lake.build import build as build_lake

    with Progress("chunks", is_shown=sys.stderr.isatty() and not as_json) as shown:
        built = build_lake(
            source, target, on=engine, workers=workers, address=address, redact=redact, progress=shown.reach
        )
    for problem in built.problems[:_MOST_SAID]:
        say(f"not read: {problem}")
    if built.unread > _MOST_SAID:
        say(f"{built.unread - _MOST_SAID:,} more files were not read")
    if as_json:
        print_json({"source": source, "target": target, **msgspec.structs.asdict(built)})
        return
    again = f", {built.reused:,} parts existed already" if built.reused else ""
    write_text(
        f"{counted(built.events, 'event')} of {counted(built.runs, 'run')} from {counted(built.keys, 'file')}{again}\n"
    )
