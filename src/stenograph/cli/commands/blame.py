"""`steno blame`: which run, prompt and event last changed a file or a line."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import click
from msgspec import structs

from stenograph.cli.freshness import sync_option
from stenograph.cli.options import archive_option, print_json, say, write_text
from stenograph.cli.table import form_options, print_csv, print_fitted
from stenograph.cli.terminal import cut
from stenograph.errors import InvalidQuery, unreadable
from stenograph.query.blame import Blamed, blame
from stenograph.query.scope import Scope
from stenograph.query.short_ids import short_ids
from stenograph.render.control_chars import on_one_line
from stenograph.render.figures import when
from stenograph.runs.archive import Archive
from stenograph.runs.commits import Commit, commits_of

_HEAD = ("when", "run", "event", "agent", "change", "prompt")
_OPTIONAL = ("agent", "change")
_PROMPT = 80
_ROOM_FOR_PROMPT = 20


@click.command(
    "blame",
    epilog="Example: steno blame src/shop/cart.py:42",
)
@click.argument("place", metavar="PATH[:LINE]", type=click.Path())
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    metavar="N",
    help="Print at most N changes; 0 prints all.  [default: 10]",
)
@archive_option
@sync_option
@form_options
def command(place: str, limit: int, archive_dir: str | None, form: str | None) -> None:
    """List the runs that changed a file, newest first, with the prompt that asked for it and the commits of that time.

    With a line, print the newest change that wrote it. PATH is a file, or the end of a path if there is no such file.
    Changes by people and shell commands are not known. Exit code 1 when nothing is found.
    """
    path, line = _parts(place)
    text = None if line is None else _text_of(path, line)
    with Archive(archive_dir) as archive, archive.reading() as reader:
        found = list(blame(reader, path, Scope(), text))
        names = short_ids(reader.index)
        runs = reader.index.execute("SELECT count(*) FROM runs").fetchone()[0]
    shown = found[:1] if line is not None else list(islice(found, limit or None))
    commits = commits_of(Path(path), line)
    if form == "json":
        print_json({"path": path, "line": line, "text": text, "changes": shown, "commits": commits})
    elif form == "csv":
        print_csv(Blamed.__struct_fields__, map(structs.asdict, shown))
    else:
        _print(shown, commits, names, text)
    if len(shown) < len(found) and line is None:
        say(f"{len(shown)} of {len(found)} changes; --limit 0 lists all")
    if not found:
        say(f"no change of {place} was found in the {runs} runs of {archive.path}")
        raise click.exceptions.Exit(1)


def _parts(place: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(.+):([1-9]\d{0,8})", place)
    if found is None or Path(place).exists():
        return place, None
    return found[1], int(found[2])


def _text_of(path: str, line: int) -> str:
    try:
        lines = Path(path).read_bytes().split(b"\n")
    except OSError as error:
        raise unreadable(path, error) from error
    if line > len(lines):
        raise InvalidQuery(f"{path} has {len(lines)} lines; give one of them")
    text = lines[line - 1].decode("utf-8", "replace")
    if not text.strip():
        raise InvalidQuery(f"line {line} of {path} is empty, as many lines are; give another one")
    return text


def _print(shown: list[Blamed], commits: list[Commit], names: dict[str, str], text: str | None) -> None:
    if text is not None:
        write_text(f"{on_one_line(text)}\n\n")
    if shown:
        print_fitted(_HEAD, [_cells(each, names) for each in shown], _OPTIONAL, "prompt", _ROOM_FOR_PROMPT)
    if commits:
        write_text("\ncommits\n")
    for each in commits:
        write_text(on_one_line(f"  {each.commit[:10]}  {when(each.date)}  {each.author}  {each.subject}") + "\n")


def _cells(each: Blamed, names: dict[str, str]) -> tuple[object, ...]:
    return (
        when(each.timestamp),
        names.get(each.run_id, each.run_id),
        f"#{each.seq}",
        each.agent,
        f"{each.kind} +{each.added} -{each.removed}",
        cut(" ".join((each.prompt or "").split()), _PROMPT),
    )
