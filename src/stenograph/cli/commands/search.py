"""`steno search`: full-text search over what was said and done."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stenograph.archive.store.forgotten import read_forgotten
from stenograph.cli.freshness import sync_option
from stenograph.cli.options import (
    archive_option,
    redact_option,
    report_masked,
    run_mask,
    say,
    wants_color,
    write_text,
)
from stenograph.cli.scope import scope_options
from stenograph.cli.store import store_options
from stenograph.cli.table import form_options, print_objects
from stenograph.query.search import Hit
from stenograph.query.short_ids import short_ids
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import counted, when
from stenograph.runs.archive import Archive, Filters, SearchOptions, searched

if TYPE_CHECKING:
    from stenograph.fleet.lake.archive import StoreArchive

ROLES = ("user", "assistant", "tool", "system")
_HIT, _DIM, _END = "\x1b[1;31m", "\x1b[2m", "\x1b[0m"


def _of_store(
    archive: StoreArchive,
    words: tuple[str, ...],
    filters: Filters,
    role: str | None,
    tool: str | None,
    errors: bool,
    rank: bool,
    limit: int,
    redact: bool,
    form: str | None,
) -> None:
    """Search the runs of all machines in a store, and report what was searched."""
    mask = run_mask() if redact else None
    masker = None if mask is None else mask.event
    options = SearchOptions(role=role, tool=tool, errors=errors, rank=rank, limit=limit or None, mask=masker)
    found = archive.searched(" ".join(words), options, **filters)
    _print(found.hits, {}, form)
    if mask is not None:
        report_masked(mask.counts)
    looked = f"{found.scanned.events:,} events of {counted(found.scanned.runs, 'run')} since {found.since}"
    if found.is_cut:
        say(f"the newest {len(found.hits):,} in {looked}, --limit 0 for all")
    elif found.hits:
        say(f"searched {looked}")
    else:
        say(f"nothing found in {looked} of {archive.url}")
        raise click.exceptions.Exit(1)


@click.command(
    "search",
    epilog='Example: steno search "parse_config OR 配置" --agent claude --since 30d',
)
@click.argument("words", metavar="QUERY", nargs=-1, required=True)
@scope_options
@store_options(_of_store)
@click.option("--role", type=click.Choice(ROLES), help="Only what user, assistant, tool or system said.")
@click.option("--tool", metavar="NAME", help="Only calls and results of this tool.")
@click.option("--errors", is_flag=True, help="Only errors and failed tools.")
@click.option("--rank", is_flag=True, help="Print the most relevant hits first, not the newest.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    metavar="N",
    help="Print at most N hits; 0 prints all.  [default: 20]",
)
@redact_option
@archive_option
@sync_option
@form_options
def command(
    words: tuple[str, ...],
    filters: Filters,
    role: str | None,
    tool: str | None,
    errors: bool,
    rank: bool,
    limit: int,
    redact: bool,
    archive_dir: str | None,
    form: str | None,
) -> None:
    """Find what was said and done in all runs of the archive, newest first.

    QUERY is words that must all occur, "phrases", prefix*, AND, OR, NOT and brackets. Code can be typed as it is:
    snake_case, CamelCase or parts of it, path/to/file.py, foo.bar(). So can scripts without spaces.

    With --store, the runs of all machines are searched, those of the last 7 days unless --since says otherwise.

    Each hit names its run and event: steno show RUN --from SEQ opens it there. Exit code 1 when nothing is found.
    """
    mask = run_mask() if redact else None
    with Archive(archive_dir) as archive:
        options = SearchOptions(
            role=role,
            tool=tool,
            errors=errors,
            rank=rank,
            limit=limit or None,
            mask=None if mask is None else mask.event,
        )
        hits, total = searched(archive, " ".join(words), options, count=True, **filters)
        with archive.reading() as reader:
            names = {} if form else short_ids(reader.index)
            looked = "" if hits else _searched(reader.index)
    _print(hits, names, form)
    if mask is not None:
        report_masked(mask.counts)
    if total > len(hits):
        say(f"{len(hits):,} of {total:,}, --limit 0 for all")
    if not hits:
        removed = len(read_forgotten(archive.path / "forgotten.jsonl").runs)
        gone = f"; {removed} runs were removed by steno forget and cannot be searched" if removed else ""
        part = "the selected part of " if any(filters.values()) or role or tool or errors else ""
        say(f"nothing found in {part}{looked} of {archive.path}{gone}")
        raise click.exceptions.Exit(1)


def _print(hits: Sequence[Hit], names: dict[str, str], form: str | None) -> None:
    if form is not None:
        print_objects(Hit.__struct_fields__, (hit.to_dict() for hit in hits), form)
    else:
        color = wants_color()
        write_text("".join(_lines(hit, names, color) for hit in hits))


def _searched(index: sqlite3.Connection) -> str:
    runs, events = index.execute("SELECT count(*), coalesce(sum(events), 0) FROM runs").fetchone()
    return f"{events:,} events of {counted(runs, 'run')}"


def _lines(hit: Hit, names: dict[str, str], color: bool) -> str:
    who = " ".join(word for word in (hit.role, hit.tool_name) if word)
    source = "" if hit.source == "main" else f" {hit.source}"
    head = on_one_line(f"{when(hit.timestamp)}  {names.get(hit.run_id, hit.run_id)}{source} #{hit.seq}  {who}")
    return f"{_DIM}{head}{_END}\n  {_marked(hit, color)}\n" if color else f"{head}\n  {_marked(hit, color)}\n"


def _marked(hit: Hit, color: bool) -> str:
    text, done, marked = hit.snippet.text, 0, ""
    for start, end in hit.snippet.spans if color else ():
        marked += f"{on_one_line(text[done:start])}{_HIT}{on_one_line(text[start:end])}{_END}"
        done = end
    return marked + on_one_line(text[done:])
